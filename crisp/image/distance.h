#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "crisp/image/image.h"

namespace crisp::image {

// What squared_distance gives where there is no feature at all, or none within 46,340 pixels.
constexpr int32_t kFarAway = std::numeric_limits<int32_t>::max();

// The exact Euclidean distance transform: for every pixel, row by row, the squared distance in pixels
//   d2(x, y) = min over features (u, v) of (x - u)^2 + (y - v)^2
// to the nearest nonzero pixel of `features`; 0 on the features themselves. Linear in the number of
// pixels: distances along columns first, then the lower envelope of one parabola a column in each row
// (Meijster, Roerdink and Hesselink 2000; Felzenszwalb and Huttenlocher 2012), all in integers.
std::vector<int32_t> squared_distance(const Mask& features);

// Gives every pixel labelled `ignore` the label of the nearest pixel that is not (Euclidean, exact; of
// several equally near ones the smallest label). A mask without any other label comes back unchanged.
Mask fill_void(const Mask& mask, uint8_t ignore = kIgnore);

}  // namespace crisp::image
