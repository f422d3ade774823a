#pragma once

#include <array>
#include <cstdint>

#include "crisp/image/image.h"

namespace crisp::metric {

// Points on the contours of one label's mask, and those where the contour turns sharply.
struct ContourTurns {
  int64_t points = 0;
  int64_t sharp = 0;
};

// Walks the contours at level 0.5 of the mask of each label with wanted[label], the mask taken as padded with
// outside pixels, so that every contour is closed. Points are the middles of the cracks between an inside and
// an outside pixel, each visited once; pixels that touch only by a corner are not joined (scikit-image's
// find_contours with fully_connected='low'). A point p[i] is sharp when the angle between p[i]-p[i-3] and
// p[i+3]-p[i], indices going round, exceeds 1 rad. Contours under 7 points are left out.
std::array<ContourTurns, 256> contour_turns(const image::Mask& mask, const std::array<bool, 256>& wanted);

}  // namespace crisp::metric
