#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "crisp/ops/permutohedral.h"

namespace crisp::ops {

// The blur's weight for each of the two neighbours. Adams et al. take 1/4; with a little less, on a lattice that is
// coarser to match, the kernel's tails are nearer to the Gaussian's and there are a fifth fewer vertices. Mean field
// labels as with exact sums, on 60 small scenes that had no part in the choice: psa 98.8% (97.2 with 1/4), irn 98.9
// (98.6), afa 99.0 (98.6), toco 99.1 (99.2), beco 99.1 (99.1); the median scene 99.3 to 100. What is left comes from
// few scenes where two labels are so balanced that a small error tips a whole region.
inline constexpr double kBlurSide = 0.22;
// Variance of splatting, blurring and slicing together, a lattice cell being the unit.
inline constexpr double kLatticeVariance = 2 * kBlurSide + 1.0 / 6.0;

constexpr double power(double base, size_t exponent) {
  double product = 1;
  for (size_t i = 0; i < exponent; ++i) product *= base;
  return product;
}
constexpr double square_root(double x) {
  double root = 1;
  for (int i = 0; i < 40; ++i) root = 0.5 * (root + x / root);
  return root;
}

// A lattice point as one number: coordinates 1 to 5 (the sum of all six is 0, so they say it all), each in as many
// bits as the features need. Fields never borrow from each other, so a step along a direction is one addition, and
// keys keep their order under it.
class KeyFormat {
 public:
  KeyFormat(const float* features, size_t count);

  // coordinates: all six of a lattice point.
  uint64_t key(const std::array<int32_t, Permutohedral::kVertices>& coordinates) const;
  // What one step along each direction adds: 1 to every coordinate but the direction's, which loses 5.
  const std::array<uint64_t, Permutohedral::kVertices>& steps() const { return steps_; }

 private:
  std::array<int32_t, Permutohedral::kDimensions> least_{};
  std::array<uint64_t, Permutohedral::kDimensions> unit_{};
  std::array<uint64_t, Permutohedral::kVertices> steps_{};
};

// The simplex around each point: vertices as numbers into the list of keys returned, and barycentric weights.
std::vector<uint64_t> enclosing_simplices(const float* features, size_t count, const KeyFormat& format,
                                          std::array<uint32_t, Permutohedral::kVertices>* simplex,
                                          std::array<float, Permutohedral::kVertices>* weight);

// For each of `some`, its place in `sorted`, which contains it, counted from 1.
std::vector<uint32_t> numbers_in(const std::vector<uint64_t>& sorted, const std::vector<uint64_t>& some);

}  // namespace crisp::ops
