#include "crisp/image/decode.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <sstream>

#include "crisp/base/text.h"
#include "crisp/image/exif.h"
#include "tests/image/pixels.h"

namespace crisp::image {

// Other builds of libjpeg may round the cosine transform differently, by one step.
TEST(DecodeJpeg, EqualsPillow) {
  for (const std::string name :
       {"baseline", "full_colour", "progressive", "restart", "grey", "cmyk", "ycck", "cmyk_plain"}) {
    EXPECT_LE(difference(read_image(sample(name + ".jpg")), golden_image(name)), 1) << name;
  }
}

TEST(DecodeJpeg, HonoursEveryOrientation) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string name = "orientation_" + std::to_string(orientation);
    const Image expected = golden_image(name);
    EXPECT_LE(difference(read_image(sample(name + ".jpg")), expected), 1) << name;
    EXPECT_EQ(read_size(sample(name + ".jpg")), (ImageSize{expected.width, expected.height})) << name;
    EXPECT_EQ(expected.width, orientation < 5 ? 19 : 11);
  }
}

TEST(Exif, BrokenBlocksCountAsUpright) {
  const std::string valid("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22);
  const auto orientation = [](const std::string& text) {
    return exif_orientation({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(orientation(valid), 6);
  for (size_t size = 0; size < 20; ++size) EXPECT_EQ(orientation(valid.substr(0, size)), 1) << size;
  std::string far = valid;
  far[7] = '\x7F';  // the directory lies beyond the end
  EXPECT_EQ(orientation(far), 1);
  std::string nine = valid;
  nine[18] = 9;
  EXPECT_EQ(orientation(nine), 1);
}

TEST(DecodePng, EqualsTheReferencesExactly) {
  for (const std::string name : {"rgb8",
                                 "rgba8",
                                 "grey8",
                                 "grey_alpha8",
                                 "rgb16",
                                 "rgba16",
                                 "grey16",
                                 "grey8_transparent",
                                 "rgb8_interlaced",
                                 "rgb8_turned",
                                 "palette1",
                                 "palette2",
                                 "palette4",
                                 "palette8",
                                 "palette1_interlaced",
                                 "palette2_interlaced",
                                 "palette4_interlaced",
                                 "palette8_interlaced",
                                 "palette_transparent",
                                 "grey1",
                                 "grey2",
                                 "grey4"}) {
    const Image expected = golden_image(name);
    EXPECT_EQ(difference(read_image(sample(name + ".png")), expected), 0) << name;
    EXPECT_EQ(read_size(sample(name + ".png")), (ImageSize{expected.width, expected.height})) << name;
  }
}

TEST(DecodeMask, KeepsIndicesAndGreyValuesExactly) {
  for (const std::string name : {"palette1", "palette2", "palette4", "palette8", "palette1_interlaced",
                                 "palette2_interlaced", "palette4_interlaced", "palette8_interlaced",
                                 "palette_transparent", "grey1", "grey2", "grey4", "grey16_labels"}) {
    EXPECT_TRUE(same(read_mask(sample(name + ".png")), golden_mask(name))) << name;
  }
  const Image grey = golden_image("grey8");
  const Mask mask = read_mask(sample("grey8.png"));
  for (size_t i = 0; i < mask.labels.size(); ++i) ASSERT_EQ(mask.labels[i], grey.rgb[3 * i]);
}

TEST(DecodeMask, RefusesWhatHasNoLabels) {
  EXPECT_ERROR(read_mask(sample("grey16_too_large.png")), "grey16_too_large.png", "700", "(2, 4)");
  EXPECT_ERROR(read_mask(sample("rgb8.png")), "rgb8.png", "RGB image where a mask is due", "palette");
  EXPECT_ERROR(read_mask(sample("rgba8.png")), "RGB image where a mask is due");
  EXPECT_ERROR(read_mask(sample("grey_alpha8.png")), "transparent", "(0, 0)");
  EXPECT_ERROR(read_mask(sample("baseline.jpg")), "baseline.jpg", "JPEG where a mask is due");
  EXPECT_ERROR(read_mask(sample("rgb16.png"), {&voc_palette()}), "16-bit");
}

TEST(Decode, RealVocFilesEqualPillow) {
  CRISP_NEEDS_SHARED();
  const std::vector<std::string> lines = split_lines(read_text(sample("voc.txt")));
  ASSERT_EQ(lines.size(), 25u);
  std::string wanted;
  for (const std::string& line : lines) {
    const std::string id = split_words(line)[0];
    wanted += " VOC2012/JPEGImages/" + id + ".jpg VOC2012/SegmentationClass/" + id + ".png";
  }
  const TemporaryFolder folder;
  const Path tar = test::shared_folder() / "data" / "voc12-core.tar";
  const std::string unpack =
      "tar xf " + test::quote(tar.string()) + " -C " + test::quote(folder.path().string()) + wanted;
  ASSERT_EQ(test::run_shell(unpack).status, 0);
  for (const std::string& line : lines) {
    std::istringstream values(line);
    std::string id;
    ImageSize size;
    uint32_t labels_crc = 0;
    std::array<double, 3> expected{}, sums{};
    values >> id >> size.width >> size.height >> labels_crc >> expected[0] >> expected[1] >> expected[2];
    const Image photo = read_image(folder.path() / "VOC2012" / "JPEGImages" / (id + ".jpg"));
    const Mask mask = read_mask(folder.path() / "VOC2012" / "SegmentationClass" / (id + ".png"));
    EXPECT_EQ((ImageSize{photo.width, photo.height}), size) << id;
    EXPECT_EQ((ImageSize{mask.width, mask.height}), size) << id;
    EXPECT_EQ(checksum({reinterpret_cast<const char*>(mask.labels.data()), mask.labels.size()}), labels_crc) << id;
    for (size_t i = 0; i < photo.rgb.size(); ++i) sums[i % 3] += photo.rgb[i];
    // Another build of libjpeg may round single pixels by one step.
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(sums[c], expected[c], 0.01 * size.width * size.height) << id;
  }
}

TEST(Decode, GoesByContentNotByName) {
  const TemporaryFolder folder;
  const Path png = folder.path() / "really a png.jpg", jpeg = folder.path() / "really a jpeg.png";
  std::filesystem::copy_file(sample("rgb8.png"), png);
  std::filesystem::copy_file(sample("baseline.jpg"), jpeg);
  EXPECT_EQ(difference(read_image(png), golden_image("rgb8")), 0);
  EXPECT_LE(difference(read_image(jpeg), golden_image("baseline")), 1);
}

TEST(Decode, TakesPathsWithSpacesAndOtherLetters) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "Grüße aus Łódź 写真.jpg";
  std::filesystem::copy_file(sample("baseline.jpg"), path);
  EXPECT_EQ(read_image(path).width, 53);
  EXPECT_EQ(read_size(path), (ImageSize{53, 38}));
  EXPECT_ERROR(read_image(folder.path() / "Łódź fehlt.jpg"), "Łódź fehlt.jpg", "No such file");
}

TEST(Decode, KnowsImageNames) {
  for (const char* name : {"a.jpg", "b.JPG", "c.jpeg", "d.Png", "dir.x/e.jfif"}) EXPECT_TRUE(is_image_name(name));
  for (const char* name : {"a.txt", "jpg", "a.jpg.bak", ".png", ""}) EXPECT_FALSE(is_image_name(name)) << name;
}

}  // namespace crisp::image
