#pragma once

#include <array>
#include <cstdint>

#include "crisp/image/image.h"

namespace crisp::metric {

// 1 - (label changes to the right and downwards) / (H W): 1 for a flat map, down to -1 for a checkerboard.
double tv_smoothness(const image::Mask& mask);

// Perimeter of the mask of every label, as scikit-image's perimeter(neighborhood=4): border pixels (those
// with a 4-neighbour outside, the image frame counting as outside) weigh 1, sqrt(2) or their mean by the
// pattern of border pixels around them. Isolated pixels weigh nothing. Entry 255 is not filled.
std::array<double, 256> perimeters(const image::Mask& mask);

// 4 pi area / perimeter^2, at most 1; the perimeter must be positive.
double compactness(int64_t area, double perimeter);

}  // namespace crisp::metric
