#include "crisp/image/resize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/image/pixels.h"

namespace crisp::image {
namespace {

const std::vector<std::pair<int, int>> kSizes = {{61, 20}, {23, 47}, {17, 13}, {122, 94}, {100, 31},
                                                 {40, 90}, {1, 1},   {5, 1},   {61, 47}};

std::string named(const std::pair<int, int>& size) {
  return "resize_" + std::to_string(size.first) + "x" + std::to_string(size.second);
}

}  // namespace

TEST(Resize, EqualsPillowToTheBit) {
  const Image photo = golden_image("resize");
  for (const auto& size : kSizes) {
    // Pillow takes the columns first where that is less work; the rounding in between then differs.
    const int allowed = size == std::pair{100, 31} ? 1 : 0;
    EXPECT_LE(difference(resize(photo, size.first, size.second), golden_image(named(size))), allowed) << named(size);
  }
}

TEST(Resize, StaysWithinOneStepOfTorch) {
  const Image photo = golden_image("resize");
  for (const auto& [width, height] : {std::pair{17, 13}, {80, 70}}) {
    const Image ours = resize(photo, width, height);
    const std::string name = "resize_torch_" + std::to_string(width) + "x" + std::to_string(height) + ".f32";
    const std::vector<float> expected = golden_numbers<float>(name);
    ASSERT_EQ(ours.rgb.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_LE(std::abs(ours.rgb[i] - expected[i]), 1.0) << name << i;
  }
}

TEST(Resize, MapsEqualTorch) {
  const Image photo = golden_image("resize");
  std::vector<float> red;
  for (size_t i = 0; i < photo.rgb.size(); i += 3) red.push_back(photo.rgb[i]);
  for (const auto& [width, height] : {std::pair{17, 13}, {80, 70}}) {
    const std::vector<float> ours = resize_map(red, photo.width, photo.height, width, height);
    const std::vector<float> expected =
        golden_numbers<float>("resize_torch_" + std::to_string(width) + "x" + std::to_string(height) + ".f32");
    ASSERT_EQ(ours.size() * 3, expected.size());
    for (size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], expected[3 * i], 1e-4) << i;
  }
}

TEST(Resize, NearestEqualsPillow) {
  const Mask labels = golden_mask("resize");
  for (const auto& size : kSizes) {
    EXPECT_TRUE(same(resize_nearest(labels, size.first, size.second), golden_mask(named(size)))) << named(size);
  }
}

TEST(Resize, APartIntoAPartEqualsThePartAlone) {
  const Image photo = golden_image("resize");
  const auto cut = [](const Image& image, const Box& box) {
    Image part(box.width, box.height);
    for (int y = 0; y < box.height; ++y) std::copy_n(image.row(box.top + y) + 3 * box.left, 3 * box.width, part.row(y));
    return part;
  };
  const int w = photo.width, h = photo.height;
  for (const Box& from : {Box{0, 0, w, h}, Box{3, 5, w - 7, h - 6}, Box{w - 4, h - 9, 4, 9}, Box{w - 1, 0, 1, 1}}) {
    // Smaller, larger, one side kept, both kept.
    for (const auto& [width, height] :
         {std::pair{7, 11}, {90, 85}, {from.width, 40}, {40, from.height}, {from.width, from.height}}) {
      Image target(w + 100, h + 100);
      std::fill(target.rgb.begin(), target.rgb.end(), uint8_t{77});
      const Image before = target;
      const Box to{9, 4, width, height};
      resize_into(photo, from, target, to);
      EXPECT_EQ(cut(target, to).rgb, resize(cut(photo, from), width, height).rgb) << from.width << " " << width;
      Image restored = target;  // nothing else was touched
      for (int y = 0; y < height; ++y) std::fill_n(restored.row(4 + y) + 27, 3 * width, uint8_t{77});
      EXPECT_EQ(restored.rgb, before.rgb);
    }
  }
  Image target(10, 10);
  EXPECT_THROW(resize_into(photo, {0, 0, w + 1, h}, target, {0, 0, 5, 5}), Error);
  EXPECT_THROW(resize_into(photo, {0, 0, w, h}, target, {6, 0, 5, 5}), Error);
  EXPECT_THROW(resize_into(photo, {-1, 0, 4, 4}, target, {0, 0, 5, 5}), Error);
}

TEST(Resize, WhiteStaysWhite) {
  // The largest sums there are: rounded weights must not carry them beyond 255.
  for (const int old_size : {1, 2, 3, 97, 640}) {
    Image white(old_size, old_size);
    std::fill(white.rgb.begin(), white.rgb.end(), uint8_t{255});
    for (const int size : {1, 2, 5, 64, 333}) {
      const Image got = resize(white, size, size);
      EXPECT_EQ(std::count(got.rgb.begin(), got.rgb.end(), 255), static_cast<int64_t>(got.rgb.size()))
          << old_size << " to " << size;
    }
  }
}

TEST(Resize, KeepsAFlatImageFlat) {
  Image flat(1, 4000);
  for (size_t i = 0; i < flat.rgb.size(); ++i) flat.rgb[i] = static_cast<uint8_t>(i % 3 * 127 + 1);
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 333}, {3, 5000}}) {
    const Image resized = resize(flat, width, height);
    for (size_t i = 0; i < resized.rgb.size(); ++i) ASSERT_EQ(resized.rgb[i], i % 3 * 127 + 1);
  }
}

TEST(Resize, RefusesSizesBelowOne) {
  EXPECT_ERROR(resize(Image(4, 4), 0, 3), "4 x 4", "0 x 3");
  EXPECT_ERROR(resize(Image(), 5, 3), "0 x 0");
  EXPECT_ERROR(resize_nearest(Mask(4, 4), 3, -1), "3 x -1");
  EXPECT_ERROR(resize_map({1, 2}, 3, 1, 3, 3), "2 values", "3 x 1");
}

}  // namespace crisp::image
