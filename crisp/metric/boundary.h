#pragma once

#include <array>
#include <cstdint>

#include "crisp/image/image.h"

namespace crisp::metric {

// Boundary pixels of one class and how many lie within the tolerance of the other mask's boundary.
struct BoundaryMatch {
  int64_t truth = 0, truth_matched = 0;
  int64_t predicted = 0, predicted_matched = 0;

  // Harmonic mean of precision and recall. Two empty boundaries agree (1), one empty boundary does not (0).
  double f1() const;
};

// Per label: the boundary (pixels with a 4-neighbour of another label, the image frame not counted) of the
// truth against that of the prediction, matched within Euclidean distance `tolerance`. Both masks must have
// one size; ignored truth must be filled before.
std::array<BoundaryMatch, 256> match_boundaries(const image::Mask& truth, const image::Mask& prediction,
                                                double tolerance);

// Pixels of the bands of one class, in both masks or in either.
struct BandOverlap {
  int64_t common = 0, either = 0;
};

// Boundary IoU (Cheng et al., 2021): the band of a class is the part of its mask that `width` erosions with a
// 3x3 square take away, the image frame being outside. Bands are drawn on `filled` (the truth without void) and
// the prediction; pixels where `truth` is `ignore` are not counted.
std::array<BandOverlap, 256> overlap_bands(const image::Mask& truth, const image::Mask& filled,
                                           const image::Mask& prediction, int ignore, int width);

// Width of the band for an image: round(fraction * diagonal), at least 1.
int band_width(int width, int height, double fraction);

}  // namespace crisp::metric
