#include "crisp/image/heat_map.h"

#include <algorithm>
#include <cstddef>

#include "crisp/base/error.h"
#include "crisp/image/palette.h"

namespace crisp::image {

Mask to_levels(const std::vector<float>& values, int width, int height, float low, float high) {
  Mask levels(width, height);
  if (values.size() != levels.labels.size()) {
    throw Error("a map of {} values is not {} x {}", values.size(), width, height);
  }
  if (!(low < high)) throw Error("a map cannot be drawn from {} to {}: the second must be larger", low, high);
  const float scale = 255 / (high - low);
  for (size_t i = 0; i < values.size(); ++i) {
    const float level = (values[i] - low) * scale;
    levels.labels[i] = level > 0 ? static_cast<uint8_t>(std::min(level, 255.0f) + 0.5f) : uint8_t{0};
  }
  return levels;
}

Image heat_map(const Mask& levels) {
  Image image(levels.width, levels.height);
  for (size_t i = 0; i < levels.labels.size(); ++i) {
    const Colour& colour = viridis()[levels.labels[i]];
    std::copy(colour.begin(), colour.end(), image.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i));
  }
  return image;
}

Image heat_map(const std::vector<float>& values, int width, int height, float low, float high) {
  return heat_map(to_levels(values, width, height, low, high));
}

}  // namespace crisp::image
