#pragma once

#include <cstdint>
#include <span>

#include "crisp/image/image.h"

namespace crisp::image {

// How a camera was held, as EXIF tag 0x0112 says it: 1 upright, 2-8 flipped and/or turned. `tiff` is the
// EXIF block from its byte order mark ("II" or "MM") on. Anything missing or malformed counts as 1: a
// photo with a broken EXIF block is still a photo.
int exif_orientation(std::span<const uint8_t> tiff);

// Orientations 5-8 exchange width and height.
constexpr bool turns_sideways(int orientation) { return orientation >= 5; }

// The photo as the photographer saw it.
Image upright(Image image, int orientation);

}  // namespace crisp::image
