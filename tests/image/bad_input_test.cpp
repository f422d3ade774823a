#include <gtest/gtest.h>

#include "crisp/base/random.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "tests/image/pixels.h"

// Files no program should trust. Each must end in an Error that names the file, never in a crash.
namespace crisp::image {
namespace {

void put_big_endian(std::string& bytes, size_t at, uint32_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(value >> (8 * (count - 1 - i)));
}

// A valid PNG whose header claims another size.
std::string png_claiming(uint32_t width, uint32_t height) {
  std::string bytes = read_text(sample("rgb8.png"));
  put_big_endian(bytes, 16, width, 4);
  put_big_endian(bytes, 20, height, 4);
  put_big_endian(bytes, 29, checksum(std::string_view(bytes).substr(12, 17)), 4);
  return bytes;
}

std::string jpeg_claiming(uint32_t width, uint32_t height) {
  std::string bytes = read_text(sample("baseline.jpg"));
  const size_t frame = bytes.find("\xFF\xC0");
  put_big_endian(bytes, frame + 5, height, 2);
  put_big_endian(bytes, frame + 7, width, 2);
  return bytes;
}

}  // namespace

TEST(BadInput, TruncatedAnywhere) {
  for (const std::string name : {"baseline.jpg", "progressive.jpg", "restart.jpg", "cmyk.jpg", "rgb8.png",
                                 "rgb8_interlaced.png", "palette8.png"}) {
    const std::string whole = read_text(sample(name));
    for (size_t size = 0; size < whole.size(); size += size < 40 ? 1 : 23) {
      const std::string cut = whole.substr(0, size);
      EXPECT_ERROR(decode_image(bytes_of(cut), "folder/" + name), "folder/" + name);
    }
    const std::string half = whole.substr(0, whole.size() * 2 / 3);
    EXPECT_ERROR(decode_image(bytes_of(half), name), name, "cut off", "fetch the file again");
    EXPECT_GT(decode_size(bytes_of(half), name).width, 0);  // the header is whole
  }
  const std::string mask = read_text(sample("palette8.png"));
  EXPECT_ERROR(decode_mask(bytes_of(mask.substr(0, mask.size() - 30)), "m.png"), "m.png", "cut off");
}

TEST(BadInput, EmptyMissingAndFolders) {
  const TemporaryFolder folder;
  const Path empty = folder.path() / "empty.jpg";
  write_atomic(empty, "");
  EXPECT_ERROR(read_image(empty), "empty.jpg", "empty");
  EXPECT_ERROR(read_mask(empty), "empty.jpg", "empty");
  EXPECT_ERROR(read_size(empty), "empty.jpg", "empty");
  EXPECT_ERROR(read_image(folder.path() / "missing.png"), "missing.png", "No such file");
  EXPECT_ERROR(read_size(folder.path() / "missing.png"), "missing.png", "No such file");
  EXPECT_ERROR(read_image(folder.path()), "folder");
}

TEST(BadInput, OtherFilesUnderAnImageName) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "photo.jpg";
  const auto expect_said = [&](const std::string& bytes, const std::string& kind) {
    write_atomic(path, bytes);
    EXPECT_ERROR(read_image(path), "photo.jpg", "neither JPEG nor PNG", kind);
    EXPECT_ERROR(read_mask(path), "photo.jpg", kind);
    EXPECT_ERROR(read_size(path), "photo.jpg", kind);
  };
  expect_said("<html>404 not found</html>", "not an image");
  expect_said("x", "not an image");
  expect_said("GIF89a and so on", "a GIF");
  expect_said(std::string("RIFF\0\0\0\0WEBPVP8 ", 16), "WebP");
  expect_said(std::string("\0\0\0\x18"
                          "ftypheic",
                          12),
              "HEIF");
  expect_said("version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer");
}

TEST(BadInput, EnormousSizesAreRefusedBeforeAllocating) {
  const std::string png = png_claiming(2'000'000'000, 2'000'000'000), jpeg = jpeg_claiming(65'000, 65'000);
  EXPECT_ERROR(decode_image(bytes_of(png), "bomb.png"), "bomb.png", "2000000000 x 2000000000", "--max-pixels");
  EXPECT_ERROR(decode_mask(bytes_of(png_claiming(40'000, 40'000)), "bomb.png", {&voc_palette()}), "--max-pixels");
  EXPECT_ERROR(decode_image(bytes_of(jpeg), "bomb.jpg"), "bomb.jpg", "65000 x 65000", "--max-pixels 4225000000");
  const std::string modest = read_text(sample("rgb8.png"));
  EXPECT_ERROR(decode_image(bytes_of(modest), "small.png", {29 * 21 - 1}), "--max-pixels 609");
  EXPECT_EQ(decode_image(bytes_of(modest), "small.png", {29 * 21}).width, 29);
}

TEST(BadInput, SizesThatAreNone) {
  EXPECT_ERROR(decode_image(bytes_of(png_claiming(0, 5)), "flat.png"), "flat.png");
  EXPECT_ERROR(decode_image(bytes_of(png_claiming(0xFFFFFFFF, 5)), "flat.png"), "flat.png");
  EXPECT_ERROR(decode_image(bytes_of(jpeg_claiming(0, 5)), "flat.jpg"), "flat.jpg");
  // More rows than the data holds, and fewer bytes than the rows need.
  EXPECT_ERROR(decode_image(bytes_of(png_claiming(29, 2000)), "tall.png"), "tall.png");
  EXPECT_ERROR(decode_image(bytes_of(jpeg_claiming(53, 2000)), "tall.jpg"), "tall.jpg");
}

TEST(BadInput, CorruptBytes) {
  std::string png = read_text(sample("rgb8.png"));
  png[png.size() / 2] = static_cast<char>(png[png.size() / 2] ^ 0x55);
  EXPECT_ERROR(decode_image(bytes_of(png), "bad.png"), "bad.png", "damaged");
  std::string jpeg = read_text(sample("baseline.jpg"));
  for (size_t i = jpeg.size() / 2; i < jpeg.size() / 2 + 64; ++i) jpeg[i] = '\xFF';
  EXPECT_ERROR(decode_image(bytes_of(jpeg), "bad.jpg"), "bad.jpg", "damaged");
}

// Thousands of damaged copies of every kind: a result or an Error, nothing else. Meant for the build with
// sanitizers, where a wrong read would show.
TEST(BadInput, MutatedFilesNeverCrash) {
  const std::vector<std::string> names = {"baseline.jpg",
                                          "progressive.jpg",
                                          "cmyk.jpg",
                                          "grey.jpg",
                                          "rgb8.png",
                                          "rgba16.png",
                                          "palette_transparent.png",
                                          "palette2_interlaced.png",
                                          "orientation_6.jpg",
                                          "rgb8_turned.png"};
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back(read_text(sample(name)));
  const DecodeLimits limits{1 << 20};
  int refused = 0, read = 0;
  for (uint64_t round = 0; round < 4000; ++round) {
    Rng rng(11, round);
    const size_t which = static_cast<size_t>(rng.below(static_cast<int64_t>(files.size())));
    std::string bytes = files[which];
    const int64_t changes = 1 + rng.below(6);
    for (int64_t i = 0; i < changes; ++i) {
      // Headers are where it hurts: half of the changes go there.
      const int64_t most = static_cast<int64_t>(rng.chance(0.5) ? std::min<size_t>(bytes.size(), 200) : bytes.size());
      bytes[static_cast<size_t>(rng.below(most))] = static_cast<char>(rng.below(256));
    }
    if (names[which].ends_with(".png") && rng.chance(0.7)) {  // past the header's checksum
      put_big_endian(bytes, 29, checksum(std::string_view(bytes).substr(12, 17)), 4);
    }
    try {
      const Image image = decode_image(bytes_of(bytes), names[which], limits);
      ASSERT_EQ(image.rgb.size(), static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
      ++read;
    } catch (const Error& error) {
      ASSERT_TRUE(std::string(error.what()).starts_with(names[which])) << error.what();
      ++refused;
    }
    try {
      decode_mask(bytes_of(bytes), names[which], {&voc_palette()}, limits);
      decode_size(bytes_of(bytes), names[which]);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 100);
}

}  // namespace crisp::image
