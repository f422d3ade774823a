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

inline constexpr int64_t kPropagateLanes = 16;  // cells that the CPU's kernels work on at once

// A photo's channels with kPropagateReach more cells on every side, the nearest inside.
struct WidePhoto {
  int64_t channels, height, width;
  std::vector<float> numbers;
  int64_t stride() const { return width + 2 * kPropagateReach; }
  int64_t plane() const { return (height + 2 * kPropagateReach) * stride(); }
};
WidePhoto widened(const float* colours, int64_t channels, int64_t height, int64_t width);

// Rows [first, last) of a photo's weights [offsets, height, width]. The photo is at least kPropagateLanes wide.
void propagation_weights_cpu(const WidePhoto& photo, float sharpness, float* out, int64_t first, int64_t last);

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
