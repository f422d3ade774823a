#pragma once

#include <cstdint>

#include "crisp/image/image.h"

namespace crisp::metric {

struct SmallObjects {
  int64_t total = 0;
  int64_t found = 0;
};

// Truth components (8-connected, one label, neither 0 nor `ignore`) of fewer than `pixels` pixels, of which
// `found` have at least half of their pixels predicted with their label. Masks must have one size.
SmallObjects find_small_objects(const image::Mask& truth, const image::Mask& prediction, int ignore, int pixels);

}  // namespace crisp::metric
