#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "crisp/ops/neighbours.h"

// The raw-pointer face of propagate's kernels; no torch, so that nvcc can read it.
namespace crisp::ops {

inline constexpr std::array<int, 4> kPropagateDistances = {1, 2, 4, 8};
inline constexpr int64_t kPropagateReach = kPropagateDistances.back();
inline constexpr int64_t kPropagateNeighbours = 8 * static_cast<int64_t>(kPropagateDistances.size());

inline const std::vector<Offset>& propagate_offsets() {
  static const std::vector<Offset> offsets = neighbours(kPropagateDistances);
  return offsets;
}

struct PropagateProblem {
  const float* weights;  // [N, offsets, height, width]
  int64_t labels, height, width, steps;
  bool transposed;  // the gradient's way
};

// Planes [first, last) of the N * labels planes of height x width numbers.
void propagate_planes_cpu(const PropagateProblem& problem, const float* in, float* out, int64_t first, int64_t last);

// All planes; at least one step. `scratch` has room for as much as `out`. Only in builds for CUDA.
void propagate_cuda(const PropagateProblem& problem, int64_t photos, const float* in, float* out, float* scratch,
                    void* stream);

}  // namespace crisp::ops
