#pragma once

#include <cstdint>
#include <string>

namespace crisp::image {

// What a file's header may ask for. The default, 2^28 pixels, takes 768 MiB as an Image.
struct DecodeLimits {
  int64_t max_pixels = 268'435'456;
};

struct ImageSize {
  int width = 0;
  int height = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

// To be called between reading a header and allocating: a file of a few bytes can claim gigapixels.
void check_pixels(const std::string& name, ImageSize size, const DecodeLimits& limits);

}  // namespace crisp::image
