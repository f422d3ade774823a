#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace crisp::image {

// An RGB photo: 8 bits a channel, interleaved, rows from the top.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  // height * width * 3

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(static_cast<size_t>(w) * static_cast<size_t>(h) * 3) {}
  uint8_t* row(int y) { return rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(width) * 3; }
  const uint8_t* row(int y) const { return rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(width) * 3; }
};

constexpr uint8_t kIgnore = 255;

// One label a pixel: 0 background, 255 ignore. Also carries 8-bit maps (uncertainty, boundary).
struct Mask {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> labels;  // height * width

  Mask() = default;
  Mask(int w, int h, uint8_t fill = 0)
      : width(w), height(h), labels(static_cast<size_t>(w) * static_cast<size_t>(h), fill) {}
  uint8_t* row(int y) { return labels.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }
  const uint8_t* row(int y) const { return labels.data() + static_cast<size_t>(y) * static_cast<size_t>(width); }
};

}  // namespace crisp::image
