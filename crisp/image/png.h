#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "crisp/image/decode.h"

// The PNG half of decode.h; callers use that.
namespace crisp::image {

Image decode_png(std::span<const std::byte> bytes, const std::string& name, const DecodeLimits& limits);
Mask decode_png_mask(std::span<const std::byte> bytes, const std::string& name, const MaskReading& reading,
                     const DecodeLimits& limits);
ImageSize png_size(std::span<const std::byte> bytes, const std::string& name);

}  // namespace crisp::image
