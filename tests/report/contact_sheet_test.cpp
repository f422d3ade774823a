#include "crisp/report/contact_sheet.h"

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "crisp/image/palette.h"
#include "crisp/report/showcase.h"
#include "tests/report/markup.h"

namespace crisp::report {
namespace {

using image::Image;
using image::Mask;
using test::count_of;
using test::fault_in;
using test::has;

const ClassNames kNames = {"background", "<b>cat</b>", "dog"};

Image noise(int width, int height, uint64_t seed, int most) {
  Rng rng(seed);
  Image image(width, height);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(128 + rng.below(most) - most / 2);
  return image;
}

image::Colour pixel(const Image& image, int x, int y) {
  const uint8_t* at = image.row(y) + 3 * x;
  return {at[0], at[1], at[2]};
}

SheetPage small_page() {
  const Image photo(8, 6);
  SheetPage page{.title = "seeds <mine>",
                 .lead = "Two images.",
                 .facts = {{"images", "2 of 9"}, {"refined by", "crf & par"}},
                 .classes = kNames,
                 .command = "crispformer show 'a & b'",
                 .version = "1.2.3",
                 .commit = "abcdef"};
  page.rows.push_back({.name = "one & <two>",
                       .tags = {"<b>cat</b>", "tail"},
                       .note = "mIoU 12.3%",
                       .pictures = {sheet_photo("photo", photo), sheet_labels("truth", photo, Mask(8, 6, 2)),
                                    sheet_activation("CAM", photo, Mask(4, 3, 200))}});
  page.rows.push_back(
      {.name = "three", .pictures = {sheet_photo("photo", photo), sheet_levels("boundary", Mask(8, 6))}});
  return page;
}

TEST(ReportContactSheet, HasEveryRowAndEscapesNames) {
  const std::string page = contact_sheet(small_page());
  EXPECT_EQ(fault_in(page), "");
  for (const char* part : {"seeds &lt;mine&gt;", "Two images.", "2 of 9", "crf &amp; par", "one &amp; &lt;two&gt;",
                           "mIoU 12.3%", "three", "&lt;b&gt;cat&lt;/b&gt;", "tail",
                           "crispformer show &#39;a &amp; b&#39;", "1.2.3", "abcdef", "CAM of one &amp; &lt;two&gt;"}) {
    EXPECT_TRUE(has(page, part)) << part;
  }
  EXPECT_EQ(count_of(page, "<figure>"), 5u);
  EXPECT_FALSE(has(page, "http")) << "nothing from elsewhere";
  EXPECT_FALSE(has(page, "<script"));
}

TEST(ReportContactSheet, CaptionsStandOnceAboveTheirColumns) {
  const std::string page = contact_sheet(small_page());
  EXPECT_TRUE(has(page, "--columns:4")) << "photo, truth, CAM, boundary";
  EXPECT_TRUE(has(page, "<div>photo</div><div>truth</div><div>CAM</div><div>boundary</div>"));
  EXPECT_EQ(count_of(page, "class=\"cell\""), 5u);
  EXPECT_EQ(count_of(page, "class=\"cell empty\""), 3u) << "boundary of the first, truth and CAM of the second";
}

TEST(ReportContactSheet, ManyPicturesTakeLinesOfOneLength) {
  SheetPage page;
  SheetRow row{.name = "one"};
  for (int i = 0; i < 8; ++i) row.pictures.push_back(sheet_photo("picture " + std::to_string(i), Image(4, 4)));
  page.rows = {row};
  const std::string text = contact_sheet(page);
  EXPECT_TRUE(has(text, "--columns:4"));
  EXPECT_FALSE(has(text, "class=\"strip captions\""));
  EXPECT_TRUE(has(text, "<figcaption>picture 7</figcaption>"));
}

TEST(ReportContactSheet, LegendNamesWhatOccurs) {
  SheetPage page = small_page();
  const std::string both = contact_sheet(page);
  EXPECT_TRUE(has(both, "rgb(128,0,0)")) << "the first row's tag";
  EXPECT_TRUE(has(both, "rgb(0,128,0)")) << "the first row's truth";
  EXPECT_TRUE(has(both, "class=\"scale\""));
  EXPECT_FALSE(has(both, ">ignored<"));
  page.rows.erase(page.rows.begin());
  page.rows[0].pictures = {sheet_labels("label", {}, Mask(3, 3, image::kIgnore)),
                           sheet_labels("other", {}, Mask(3, 3, 7))};
  const std::string one = contact_sheet(page);
  EXPECT_FALSE(has(one, "rgb(128,0,0)"));
  EXPECT_TRUE(has(one, "</span>ignored<"));
  EXPECT_TRUE(has(one, "</span>class 7<")) << "a label beyond the classes";
  EXPECT_FALSE(has(one, "class=\"scale\""));
}

TEST(ReportContactSheet, SaysSoWhenThereIsNothing) {
  const std::string page = contact_sheet({.title = "empty"});
  EXPECT_EQ(fault_in(page), "");
  EXPECT_TRUE(has(page, "no image to show"));
  EXPECT_FALSE(has(page, "How this was made"));
}

TEST(ReportContactSheet, LabelsColourThePhotoAndLeaveTheBackground) {
  Image photo(20, 20);
  photo.rgb.assign(photo.rgb.size(), 100);
  Mask labels(20, 20);
  for (int y = 0; y < 20; ++y) std::fill_n(labels.row(y) + 10, 10, uint8_t{1});
  const SheetPicture over = sheet_labels("label", photo, labels);
  EXPECT_TRUE(over.photo);
  EXPECT_EQ(over.labels, std::vector<uint8_t>{1});
  EXPECT_EQ(pixel(over.image, 2, 10), (image::Colour{100, 100, 100}));
  EXPECT_EQ(pixel(over.image, 15, 10), (image::Colour{117, 38, 38})) << "0.62 of (128, 0, 0) on grey 100";
  const SheetPicture alone = sheet_labels("label", {}, labels);
  EXPECT_FALSE(alone.photo);
  EXPECT_EQ(pixel(alone.image, 2, 10), (image::Colour{0, 0, 0}));
  EXPECT_EQ(pixel(alone.image, 15, 10), (image::Colour{128, 0, 0}));
}

TEST(ReportContactSheet, ActivationIsStrongestWhereItIsHigh) {
  Image photo(10, 10);
  photo.rgb.assign(photo.rgb.size(), 100);
  const image::Palette& viridis = image::viridis();
  // Grey 100 under the colours becomes 100 * 3 / 4 + 16 = 91.
  for (const int level : {0, 128, 255}) {
    const SheetPicture picture = sheet_activation("CAM", photo, Mask(5, 5, static_cast<uint8_t>(level)));
    EXPECT_TRUE(picture.heat);
    const double share = (40 + 0.625 * level) / 256;
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(pixel(picture.image, 5, 5)[c], share * viridis[static_cast<size_t>(level)][c] + (1 - share) * 91, 1.5)
          << level;
    }
  }
  EXPECT_EQ(pixel(sheet_activation("CAM", {}, Mask(5, 5, 255)).image, 2, 2), viridis[255]);
  EXPECT_EQ(pixel(sheet_levels("uncertainty", Mask(5, 5, 77)).image, 2, 2), viridis[77]);
}

TEST(ReportContactSheet, PicturesOfOneRowHaveOneSizeWhateverTheMaps) {
  const Image photo(1000, 600);
  for (const SheetPicture& picture : {sheet_photo("a", photo), sheet_labels("b", photo, Mask(125, 75)),
                                      sheet_activation("c", photo, Mask(63, 38)), sheet_levels("d", Mask(1000, 600))}) {
    EXPECT_EQ(picture.image.width, kThumbnail) << picture.caption;
    EXPECT_EQ(picture.image.height, 173) << picture.caption;
  }
  EXPECT_THROW(sheet_photo("nothing", {}), Error);
}

TEST(ReportContactSheet, TwentyFourImagesStayBelowFourMegabytes) {
  // Noise of this strength takes 24 KB a thumbnail, more than 19 of 20 VOC photos (their median: 15 KB).
  SheetPage page;
  const Mask map(500, 375, 90);
  for (uint64_t i = 0; i < 24; ++i) {
    const Image photo = noise(500, 375, i, 180);
    page.rows.push_back({.name = std::to_string(i),
                         .pictures = {sheet_photo("photo", photo), sheet_labels("truth", photo, map),
                                      sheet_activation("CAM", photo, map), sheet_labels("label", photo, map),
                                      sheet_levels("uncertainty", map)}});
  }
  const size_t size = contact_sheet(page).size();
  EXPECT_LT(size, 4'000'000u);
  EXPECT_GT(size, 1'000'000u) << "the photos are in it";
}

}  // namespace
}  // namespace crisp::report
