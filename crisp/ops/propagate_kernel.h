#pragma once

#include <array>
#include <cstdint>

// The raw-pointer face of propagate's kernel; no torch.
namespace crisp::ops {

struct Offset {
  int64_t dy, dx;
};

inline constexpr std::array<int64_t, 4> kPropagateDistances = {1, 2, 4, 8};
inline constexpr int64_t kPropagateReach = kPropagateDistances.back();
inline constexpr int64_t kPropagateNeighbours = 8 * static_cast<int64_t>(kPropagateDistances.size());

// The 8 neighbours at each distance.
constexpr std::array<Offset, kPropagateNeighbours> propagate_offsets() {
  std::array<Offset, kPropagateNeighbours> offsets{};
  size_t i = 0;
  for (const int64_t distance : kPropagateDistances) {
    for (int64_t dy = -1; dy <= 1; ++dy) {
      for (int64_t dx = -1; dx <= 1; ++dx) {
        if (dy != 0 || dx != 0) offsets[i++] = {dy * distance, dx * distance};
      }
    }
  }
  return offsets;
}

struct PropagateProblem {
  const float* weights;  // [N, offsets, height, width]
  int64_t labels, height, width, steps;
  bool transposed;  // the gradient's way
};

// Planes [first, last) of the N * labels planes of height x width numbers.
void propagate_planes_cpu(const PropagateProblem& problem, const float* in, float* out, int64_t first, int64_t last);

}  // namespace crisp::ops
