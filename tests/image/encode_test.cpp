#include "crisp/image/encode.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "crisp/base/random.h"
#include "crisp/image/decode.h"
#include "tests/image/pixels.h"

namespace crisp::image {
namespace {

Mask all_labels(int width, int height) {
  Mask mask(width, height);
  Rng rng(1);
  for (uint8_t& label : mask.labels) label = static_cast<uint8_t>(rng.below(256));
  return mask;
}

}  // namespace

TEST(EncodePng, MasksComeBackExactlyWhateverThePalette) {
  const Mask mask = all_labels(37, 19);
  EXPECT_TRUE(same(decode_mask(bytes_of(encode_mask_png(mask)), "voc"), mask));
  EXPECT_TRUE(same(decode_mask(bytes_of(encode_mask_png(mask, Palette{})), "black"), mask));
  EXPECT_TRUE(same(decode_mask(bytes_of(encode_grey_png(mask)), "grey"), mask));
}

TEST(EncodePng, MasksShowThePaletteColours) {
  const Mask mask = all_labels(20, 20);
  const std::string bytes = encode_mask_png(mask);
  EXPECT_EQ(bytes[24], 8);  // bit depth and colour type of the header: an 8-bit palette
  EXPECT_EQ(bytes[25], 3);
  const Image seen = decode_image(bytes_of(bytes), "mask");
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) ASSERT_EQ(seen.rgb[3 * i + c], voc_palette()[mask.labels[i]][c]);
  }
}

TEST(EncodePng, RgbMasksAreLookedUpInAPalette) {
  const Mask mask = all_labels(31, 8);
  Image coloured = decode_image(bytes_of(encode_mask_png(mask)), "mask");
  EXPECT_TRUE(same(decode_mask(bytes_of(encode_rgb_png(coloured)), "rgb", {&voc_palette()}), mask));
  coloured.row(5)[3 * 7 + 1] = 1;  // no VOC colour has it
  EXPECT_ERROR(decode_mask(bytes_of(encode_rgb_png(coloured)), "odd.png", {&voc_palette()}), "odd.png", "(7, 5)",
               ", 1, ");
}

TEST(EncodePng, PhotosComeBackExactly) {
  const Image photo = golden_image("resize");
  EXPECT_EQ(difference(decode_image(bytes_of(encode_rgb_png(photo)), "photo"), photo), 0);
}

TEST(EncodeJpeg, StaysNearThePhoto) {
  const Image photo = golden_image("baseline");
  const std::string fine = encode_jpeg(photo, 100), coarse = encode_jpeg(photo, 40);
  EXPECT_LE(difference(decode_image(bytes_of(fine), "fine"), photo), 6);
  EXPECT_EQ(decode_size(bytes_of(coarse), "coarse"), (ImageSize{photo.width, photo.height}));
  EXPECT_LT(coarse.size(), fine.size() / 3);
  EXPECT_ERROR(encode_jpeg(photo, 0), "quality 0");
}

TEST(Encode, TakesTheSmallestAndTheThinnest) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 4000}, {4000, 1}}) {
    Image image(width, height);
    std::fill(image.rgb.begin(), image.rgb.end(), uint8_t{200});
    EXPECT_EQ(difference(decode_image(bytes_of(encode_rgb_png(image)), "png"), image), 0);
    EXPECT_LE(difference(decode_image(bytes_of(encode_jpeg(image)), "jpeg"), image), 1);
    const Mask mask = all_labels(width, height);
    EXPECT_TRUE(same(decode_mask(bytes_of(encode_mask_png(mask)), "mask"), mask));
  }
}

TEST(Encode, RefusesNothingAndTooMuch) {
  EXPECT_ERROR(encode_rgb_png(Image()), "0 x 0");
  EXPECT_ERROR(encode_mask_png(Mask(0, 5)), "0 x 5");
  EXPECT_ERROR(encode_jpeg(Image()), "0 x 0");
  EXPECT_ERROR(encode_jpeg(Image(70'000, 1)), "70000 x 1", "65500");
}

TEST(Encode, WritesWholeFiles) {
  const TemporaryFolder folder;
  const Mask mask = all_labels(50, 40);
  const Image photo = golden_image("resize");
  const Path base = folder.path() / "out put ä";
  write_mask_png(base.string() + ".mask.png", mask);
  write_grey_png(base.string() + ".grey.png", mask);
  write_rgb_png(base.string() + ".rgb.png", photo);
  write_jpeg(base.string() + ".jpg", photo, 95);
  EXPECT_TRUE(same(read_mask(base.string() + ".mask.png"), mask));
  EXPECT_TRUE(same(read_mask(base.string() + ".grey.png"), mask));
  EXPECT_EQ(difference(read_image(base.string() + ".rgb.png"), photo), 0);
  EXPECT_EQ(read_size(base.string() + ".jpg"), (ImageSize{photo.width, photo.height}));
  EXPECT_EQ(list_files(folder.path(), {}).size(), 4u);
}

TEST(Encode, NamesAFolderThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_ERROR(write_mask_png(folder.path() / "missing" / "a.png", all_labels(4, 4)), "a.png", "cannot write",
               "No such file or directory");
  write_atomic(folder.path() / "file", "x");
  EXPECT_ERROR(write_rgb_png(folder.path() / "file" / "b.png", Image(4, 4)), "b.png", "Not a directory");
}

TEST(Encode, NamesAFolderItMayNotWriteTo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write into any folder";
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_ERROR(write_jpeg(folder.path() / "b.jpg", Image(4, 4)), "b.jpg", "Permission denied");
}

TEST(Encode, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "mask.png";
  const Mask old = all_labels(8, 8);
  write_mask_png(path, old);

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_ERROR(write_mask_png(path, all_labels(200, 200)), "mask.png", "cannot write");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  EXPECT_TRUE(same(read_mask(path), old));
  EXPECT_EQ(list_files(folder.path(), {}).size(), 1u);
}

}  // namespace crisp::image
