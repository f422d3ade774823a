#include "crisp/image/palette.h"

namespace crisp::image {
namespace {

constexpr Palette make_voc_palette() {
  Palette palette{};
  for (unsigned index = 0; index < palette.size(); ++index) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const unsigned channel = bit % 3, place = 7 - bit / 3;
      const unsigned value = palette[index][channel] | ((index >> bit & 1u) << place);
      palette[index][channel] = static_cast<uint8_t>(value);
    }
  }
  return palette;
}

}  // namespace

const Palette& voc_palette() {
  static constexpr Palette palette = make_voc_palette();
  return palette;
}

}  // namespace crisp::image
