#pragma once

#include "crisp/image/image.h"

namespace crisp::metric {

// The mask with every pixel of label `ignore` given the label of the nearest other pixel: Euclidean between
// pixel centres, exact, ties to the smallest label. A mask that is all `ignore` comes back as it is.
image::Mask fill_void(const image::Mask& mask, int ignore);

}  // namespace crisp::metric
