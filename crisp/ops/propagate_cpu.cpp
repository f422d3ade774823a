#include <algorithm>
#include <array>
#include <vector>

#include "crisp/base/simd.h"
#include "crisp/ops/propagate_kernel.h"

namespace crisp::ops {
namespace {

CRISP_SIMD void add_product(float* __restrict out, const float* __restrict a, const float* __restrict b,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += a[i] * b[i];
}

constexpr int64_t kLanes = kPropagateLanes, kTogether = 6;

// One row of kTogether planes: out = the weighted sum of what lies at from[i] in each of the `wide` planes. Weights are
// read once for all of them, and sums stay in registers: twice as fast as neighbour by neighbour.
CRISP_SIMD void gather_row(const float* weights, int64_t area, const float* wide, int64_t plane, const int64_t* from,
                           int64_t width, float* out) {
  for (int64_t at = 0; at < width; at += kLanes) {
    const int64_t x = std::min(at, width - kLanes);  // the last ones overlap
    float sums[kTogether][kLanes] = {};
    for (int64_t i = 0; i < kPropagateNeighbours; ++i) {
      const float* weight = weights + i * area + x;
      const float* there = wide + from[i] + x;
      for (int64_t p = 0; p < kTogether; ++p) {
        for (int64_t l = 0; l < kLanes; ++l) sums[p][l] += weight[l] * there[p * plane + l];
      }
    }
    for (int64_t p = 0; p < kTogether; ++p) std::copy_n(sums[p], kLanes, out + p * area + x);
  }
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

  void widen(const float* plane, float* to) const {
    for (int64_t y = 0; y < height; ++y) {
      float* inside = to + row(y);
      std::copy_n(plane + y * width, width, inside);
      std::fill_n(inside - kPropagateReach, kPropagateReach, plane[y * width]);
      std::fill_n(inside + width, kPropagateReach, plane[y * width + width - 1]);
    }
  }

  void gather(float* plane) {
    widen(plane, wide.data());
    std::fill_n(plane, height * width, 0.0f);
    const std::vector<Offset>& offsets = propagate_offsets();
    for (int64_t y = 0; y < height; ++y) {
      for (size_t i = 0; i < offsets.size(); ++i) {
        add_product(plane + y * width, weight(i, y), wide.data() + row(y + offsets[i].dy) + offsets[i].dx, width);
      }
    }
  }

  // The same for kTogether planes, at least kLanes wide; `wide` has room for as many.
  void gather_together(float* planes) {
    const int64_t area = height * width, apart = height * stride();
    for (int64_t p = 0; p < kTogether; ++p) widen(planes + p * area, wide.data() + p * apart);
    const std::vector<Offset>& offsets = propagate_offsets();
    std::array<int64_t, kPropagateNeighbours> from{};
    for (int64_t y = 0; y < height; ++y) {
      for (size_t i = 0; i < from.size(); ++i) from[i] = row(y + offsets[i].dy) + offsets[i].dx;
      gather_row(weight(0, y), area, wide.data(), apart, from.data(), width, planes + y * width);
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

// Forwards, kTogether planes at once.
void walk_together(const PropagateProblem& problem, const float* in, float* out, int64_t first, int64_t last,
                   Step& step) {
  const int64_t area = problem.height * problem.width;
  step.wide.resize(static_cast<size_t>(kTogether * problem.height * step.stride()));
  std::vector<float> planes(static_cast<size_t>(kTogether * area));
  for (int64_t index = first; index < last;) {
    const int64_t photo = index / problem.labels;
    const int64_t count = std::min({kTogether, last - index, (photo + 1) * problem.labels - index});
    step.weights = problem.weights + photo * kPropagateNeighbours * area;
    std::copy_n(in + index * area, count * area, planes.data());
    for (int64_t i = 0; i < problem.steps; ++i) step.gather_together(planes.data());
    std::copy_n(planes.data(), count * area, out + index * area);
    index += count;
  }
}

}  // namespace

void propagate_planes_cpu(const PropagateProblem& problem, const float* in, float* out, int64_t first, int64_t last) {
  const int64_t area = problem.height * problem.width;
  Step step{.weights = nullptr, .height = problem.height, .width = problem.width, .wide = {}};
  if (!problem.transposed && problem.width >= kLanes) {
    walk_together(problem, in, out, first, last, step);
    return;
  }
  step.wide.resize(static_cast<size_t>(problem.height * step.stride()));
  for (int64_t index = first; index < last; ++index) {
    step.weights = problem.weights + index / problem.labels * kPropagateNeighbours * area;
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
