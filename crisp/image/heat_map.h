#pragma once

#include <vector>

#include "crisp/image/image.h"

namespace crisp::image {

// Values as 8-bit levels, row by row: `low` and below is 0, `high` and above 255, rounded to the nearest
// in between. What is not a number is 0.
Mask to_levels(const std::vector<float>& values, int width, int height, float low = 0, float high = 1);

// Levels in the colours of viridis, dark for 0 and yellow for 255: uncertainty for the eye.
Image heat_map(const Mask& levels);
Image heat_map(const std::vector<float>& values, int width, int height, float low = 0, float high = 1);

}  // namespace crisp::image
