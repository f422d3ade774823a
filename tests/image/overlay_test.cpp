#include "crisp/image/overlay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "crisp/image/font.h"
#include "crisp/image/heat_map.h"
#include "crisp/image/legend.h"
#include "tests/image/pixels.h"

namespace crisp::image {
namespace {

Colour at(const Image& image, int x, int y) {
  const uint8_t* pixel = image.row(y) + static_cast<std::ptrdiff_t>(x) * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

Image flat(int width, int height, uint8_t value) {
  Image image(width, height);
  std::fill(image.rgb.begin(), image.rgb.end(), value);
  return image;
}

// A square of class 5 (128, 0, 128), background around it, a column of void at the right.
Mask square() {
  Mask mask(40, 30);
  for (int y = 5; y < 25; ++y) {
    for (int x = 5; x < 25; ++x) mask.row(y)[x] = 5;
  }
  for (int y = 0; y < 30; ++y) mask.row(y)[39] = kIgnore;
  return mask;
}

bool shows(const Image& image, int from_row, const Colour& colour) {
  for (int y = from_row; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (at(image, x, y) == colour) return true;
    }
  }
  return false;
}

}  // namespace

TEST(Overlay, BlendsClassesAndKeepsTheBackground) {
  const Image photo = flat(40, 30, 100);
  const Image seen = overlay(photo, square(), voc_classes(), {.alpha = 0.25, .outline = true, .legend = false});
  EXPECT_EQ(seen.width, 40);
  EXPECT_EQ(seen.height, 30);
  EXPECT_EQ(at(seen, 2, 2), (Colour{100, 100, 100}));
  EXPECT_EQ(at(seen, 4, 15), (Colour{100, 100, 100}));  // just outside: the line lies inside
  EXPECT_EQ(at(seen, 15, 15), (Colour{107, 75, 107}));  // 100 + (128 - 100) / 4, 100 - 100 / 4
  EXPECT_EQ(at(seen, 5, 15), (Colour{255, 89, 255}));   // the line: brightest of the hue, a third of white
  EXPECT_EQ(at(seen, 24, 24), (Colour{255, 89, 255}));
  EXPECT_EQ(at(seen, 39, 10), (Colour{131, 131, 123}));  // void has no line
  const Image plain = overlay(photo, square(), voc_classes(), {.alpha = 0.25, .outline = false, .legend = false});
  EXPECT_EQ(at(plain, 5, 15), (Colour{107, 75, 107}));
}

TEST(Overlay, LinesGrowWithThePicture) {
  Mask mask(1400, 1000);
  for (int y = 0; y < 1000; ++y) std::fill(mask.row(y) + 700, mask.row(y) + 1400, uint8_t{1});
  ASSERT_EQ(drawing_size(1400, 1000), 3);
  const Image seen =
      overlay(flat(1400, 1000, 0), mask, voc_classes(), {.alpha = 0.5, .outline = true, .legend = false});
  for (int x = 695; x < 708; ++x) {
    const Colour expected = x < 700 ? Colour{0, 0, 0} : x < 703 ? Colour{255, 89, 89} : Colour{64, 0, 0};
    EXPECT_EQ(at(seen, x, 500), expected) << x;
  }
}

TEST(Overlay, NamesTheClassesPresentBelowThePhoto) {
  const Image photo = flat(200, 100, 100);
  Mask mask(200, 100);
  mask.labels[0] = 3;
  mask.labels[1] = 15;
  const Image seen = overlay(photo, mask, voc_classes());
  EXPECT_EQ(seen.width, 200);
  EXPECT_EQ(seen.height, 100 + 22 + 8);  // one line
  EXPECT_TRUE(shows(seen, 100, voc_palette()[3]));
  EXPECT_TRUE(shows(seen, 100, voc_palette()[15]));
  EXPECT_FALSE(shows(seen, 100, voc_palette()[4]));
  for (size_t label = 1; label < 21; ++label) mask.labels[label] = static_cast<uint8_t>(label);
  EXPECT_GT(overlay(photo, mask, voc_classes()).height, 100 + 22 * 5);  // twenty names need several
}

TEST(Overlay, TakesOddPictures) {
  EXPECT_GT(overlay(flat(1, 1, 9), Mask(1, 1, 1), voc_classes()).width, text_width("aeroplane", 1));
  EXPECT_GT(overlay(flat(1, 4000, 9), Mask(1, 4000, 1), voc_classes()).height, 4000);
  EXPECT_GT(overlay(flat(50, 50, 9), Mask(50, 50, 0), voc_classes()).height, 50);   // "background only"
  EXPECT_GT(overlay(flat(50, 50, 9), Mask(50, 50, 77), voc_classes()).height, 50);  // "class 77"
  EXPECT_GT(overlay(flat(50, 50, 9), Mask(50, 50, 1), {"", std::string(300, 'W')}).width, 3000);
  EXPECT_EQ(overlay(Image(), Mask(), voc_classes(), {.alpha = 0, .outline = true, .legend = false}).width, 0);
}

TEST(Overlay, RefusesAMaskOfAnotherSize) {
  EXPECT_ERROR(overlay(flat(4, 5, 0), Mask(5, 4), voc_classes()), "4 x 5 and 5 x 4");
  EXPECT_ERROR(overlay(flat(4, 5, 0), Mask(4, 5), voc_classes(), {.alpha = 1.5}), "alpha 1.5");
  EXPECT_ERROR(overlay(flat(4, 5, 0), Mask(4, 5), voc_classes(), {.alpha = std::nan("")}), "alpha nan");
}

TEST(Font, DrawsAsPillowWithinItsEightLevels) {
  const Mask expected = golden_mask("letters");
  Image page = flat(expected.width, expected.height, 255);
  const std::string letters = "Agj@8?%W";
  for (size_t i = 0; i < letters.size(); ++i) {
    draw_text(page, static_cast<int>(32 * i), 0, letters.substr(i, 1), 2, {0, 0, 0});
  }
  for (int y = 0; y < page.height; ++y) {
    for (int x = 0; x < page.width; ++x) ASSERT_NEAR(at(page, x, y)[0], expected.row(y)[x], 19) << x << ", " << y;
  }
}

TEST(Font, KeepsItsInkAtEverySize) {
  const auto ink = [](int size) {
    Image page = flat(60 * size, kLineHeight * size, 255);
    draw_text(page, 2, 0, "bicycle", size, {0, 0, 0});
    double sum = 0;
    for (size_t i = 0; i < page.rgb.size(); i += 3) sum += (255 - page.rgb[i]) / 255.0;
    return sum / (size * size);
  };
  EXPECT_NEAR(ink(1), ink(2), 0.02 * ink(2));
  EXPECT_NEAR(ink(5), ink(2), 0.02 * ink(2));
  EXPECT_NEAR(text_width("bicycle", 4), 2 * text_width("bicycle", 2), 1);
}

TEST(Font, FoldsAccentsAndMarksTheRest) {
  const auto page_of = [](const std::string& text) {
    Image page = flat(200, kLineHeight, 255);
    draw_text(page, 0, 0, text, 1, {0, 0, 0});
    return page.rgb;
  };
  EXPECT_EQ(page_of("Łódź"), page_of("Lodz"));
  EXPECT_EQ(page_of("žluťoučký"), page_of("zlutoucky"));
  EXPECT_EQ(page_of("cafe\xCC\x81"), page_of("cafe"));  // the accent as a letter of its own
  EXPECT_EQ(page_of("写真"), page_of("??"));
  EXPECT_EQ(page_of("a\xFF\xC3"), page_of("a??"));  // not UTF-8
  EXPECT_NE(page_of("a"), page_of("b"));
  Image corner = flat(3, 3, 255);
  draw_text(corner, -5, -4, "Outside", 3, {0, 0, 0});  // must stay inside the memory
}

TEST(HeatMap, RunsFromVioletToYellow) {
  const Image seen = heat_map({0, 0.5, 1, -3, 7, std::numeric_limits<float>::quiet_NaN()}, 3, 2);
  EXPECT_EQ(at(seen, 0, 0), viridis()[0]);
  EXPECT_EQ(at(seen, 1, 0), viridis()[128]);
  EXPECT_EQ(at(seen, 2, 0), viridis()[255]);
  EXPECT_EQ(at(seen, 0, 1), viridis()[0]);
  EXPECT_EQ(at(seen, 1, 1), viridis()[255]);
  EXPECT_EQ(at(seen, 2, 1), viridis()[0]);
}

TEST(HeatMap, LevelsRoundToTheNearest) {
  EXPECT_EQ(to_levels({2, 3, 4, 2.0039f, 2.0030f}, 5, 1, 2, 4).labels, (std::vector<uint8_t>{0, 128, 255, 0, 0}));
  EXPECT_EQ(to_levels({0.0019f, 0.0020f}, 2, 1).labels, (std::vector<uint8_t>{0, 1}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_levels({infinity, -infinity}, 2, 1).labels, (std::vector<uint8_t>{255, 0}));
  EXPECT_ERROR(to_levels({1, 2, 3}, 2, 1), "3 values", "2 x 1");
  EXPECT_ERROR(to_levels({1}, 1, 1, 1, 1), "from 1 to 1");
}

}  // namespace crisp::image
