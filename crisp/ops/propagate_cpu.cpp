#include <algorithm>
#include <vector>

#include "crisp/base/simd.h"
#include "crisp/ops/propagate_kernel.h"

namespace crisp::ops {
namespace {

CRISP_SIMD void add_product(float* __restrict out, const float* __restrict a, const float* __restrict b,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += a[i] * b[i];
}

// One step over one plane. `wide` has room for the plane with kPropagateReach more cells on both sides of each row;
// above and below, rows repeat by their index.
struct Step {
  const float* weights;  // of this photo
  int64_t height, width;
  std::vector<float> wide;

  int64_t stride() const { return width + 2 * kPropagateReach; }
  int64_t row(int64_t y) const { return std::clamp<int64_t>(y, 0, height - 1) * stride() + kPropagateReach; }
  const float* weight(size_t neighbour, int64_t y) const {
    return weights + (static_cast<int64_t>(neighbour) * height + y) * width;
  }

  void gather(float* plane) {
    for (int64_t y = 0; y < height; ++y) {
      float* inside = wide.data() + row(y);
      std::copy_n(plane + y * width, width, inside);
      std::fill_n(inside - kPropagateReach, kPropagateReach, plane[y * width]);
      std::fill_n(inside + width, kPropagateReach, plane[y * width + width - 1]);
    }
    std::fill_n(plane, height * width, 0.0f);
    const std::vector<Offset>& offsets = propagate_offsets();
    for (int64_t y = 0; y < height; ++y) {
      for (size_t i = 0; i < offsets.size(); ++i) {
        add_product(plane + y * width, weight(i, y), wide.data() + row(y + offsets[i].dy) + offsets[i].dx, width);
      }
    }
  }

  void scatter(float* plane) {
    std::fill(wide.begin(), wide.end(), 0.0f);
    const std::vector<Offset>& offsets = propagate_offsets();
    for (int64_t y = 0; y < height; ++y) {
      for (size_t i = 0; i < offsets.size(); ++i) {
        add_product(wide.data() + row(y + offsets[i].dy) + offsets[i].dx, weight(i, y), plane + y * width, width);
      }
    }
    for (int64_t y = 0; y < height; ++y) {
      const float* inside = wide.data() + row(y);
      std::copy_n(inside, width, plane + y * width);
      for (int64_t x = 1; x <= kPropagateReach; ++x) {
        plane[y * width] += inside[-x];
        plane[y * width + width - 1] += inside[width - 1 + x];
      }
    }
  }
};

}  // namespace

void propagate_planes_cpu(const PropagateProblem& problem, const float* in, float* out, int64_t first, int64_t last) {
  const int64_t area = problem.height * problem.width;
  const int64_t photo = kPropagateNeighbours * area;  // numbers of weights
  Step step{.weights = nullptr, .height = problem.height, .width = problem.width, .wide = {}};
  step.wide.resize(static_cast<size_t>(problem.height * step.stride()));
  for (int64_t index = first; index < last; ++index) {
    step.weights = problem.weights + index / problem.labels * photo;
    float* plane = out + index * area;
    std::copy_n(in + index * area, area, plane);
    for (int64_t i = 0; i < problem.steps; ++i) {
      if (problem.transposed) {
        step.scatter(plane);
      } else {
        step.gather(plane);
      }
    }
  }
}

}  // namespace crisp::ops
