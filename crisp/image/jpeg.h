#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "crisp/image/image.h"
#include "crisp/image/limits.h"

// The JPEG half of decode.h; callers use that.
namespace crisp::image {

Image decode_jpeg(std::span<const std::byte> bytes, const std::string& name, const DecodeLimits& limits);
ImageSize jpeg_size(std::span<const std::byte> bytes, const std::string& name);

}  // namespace crisp::image
