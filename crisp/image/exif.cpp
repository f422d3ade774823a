#include "crisp/image/exif.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace crisp::image {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kShortType = 3;

// Reads integers of either byte order; beyond the end everything is 0.
struct TiffReader {
  std::span<const uint8_t> bytes;
  bool big_endian;

  uint32_t number(size_t offset, size_t count) const {
    if (offset > bytes.size() || bytes.size() - offset < count) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value = value << 8 | bytes[offset + (big_endian ? i : count - 1 - i)];
    return value;
  }
};

}  // namespace

int exif_orientation(std::span<const uint8_t> tiff) {
  if (tiff.size() < 8) return 1;
  const bool big_endian = tiff[0] == 'M' && tiff[1] == 'M';
  if (!big_endian && !(tiff[0] == 'I' && tiff[1] == 'I')) return 1;
  const TiffReader reader{tiff, big_endian};
  if (reader.number(2, 2) != 42) return 1;
  const size_t directory = reader.number(4, 4);
  const size_t entries = reader.number(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (reader.number(entry, 2) != kOrientationTag) continue;
    const uint32_t value = reader.number(entry + 8, 2);
    const bool valid = reader.number(entry + 2, 2) == kShortType && value >= 1 && value <= 8;
    return valid ? static_cast<int>(value) : 1;
  }
  return 1;
}

Image upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool sideways = turns_sideways(orientation);
  // Which end of the stored picture's own axes the upright one starts from.
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image turned(sideways ? image.height : image.width, sideways ? image.width : image.height);
  for (int y = 0; y < turned.height; ++y) {
    uint8_t* out = turned.row(y);
    for (int x = 0; x < turned.width; ++x, out += 3) {
      const int u = sideways ? y : x, v = sideways ? x : y;  // position along the stored picture's axes
      const int from_x = from_right ? image.width - 1 - u : u;
      const int from_y = from_bottom ? image.height - 1 - v : v;
      std::memcpy(out, image.row(from_y) + static_cast<ptrdiff_t>(from_x) * 3, 3);
    }
  }
  return turned;
}

}  // namespace crisp::image
