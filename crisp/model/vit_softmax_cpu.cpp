#include <algorithm>
#include <vector>

#include "crisp/base/bf16.h"
#include "crisp/base/simd.h"
#include "crisp/model/vit_softmax_kernel.h"
#include "crisp/ops/fast_exp.h"

namespace crisp::model {
namespace {

constexpr int64_t kLanes = 16;

// Lanes: the compiler may not reorder one float sum by itself. Always inlined, so that each clone of the callers has a
// copy for its own processor.
template <typename T>
[[gnu::always_inline]] inline void rows(float scale, int64_t begin, int64_t end, int64_t columns, T* matrix) {
  const int64_t even = columns / kLanes * kLanes;
  std::vector<float> values(static_cast<size_t>(columns));
  float* line = values.data();
  for (int64_t row = begin; row < end; ++row) {
    T* scores = matrix + row * columns;
    float most[kLanes];
    std::fill_n(most, kLanes, wide(scores[0]));
    for (int64_t i = 0; i < columns; ++i) line[i] = wide(scores[i]);
    for (int64_t i = 0; i < even; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        most[lane] = line[i + lane] > most[lane] ? line[i + lane] : most[lane];
    }
    for (int64_t i = even; i < columns; ++i) most[0] = std::max(most[0], line[i]);
    const float top = *std::max_element(most, most + kLanes);
    float sums[kLanes] = {};
    for (int64_t i = 0; i < columns; ++i) {
      const float x = scale * (line[i] - top);
      line[i] = ops::exp_negative(x < -50 ? -50 : x);
    }
    for (int64_t i = 0; i < even; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += line[i + lane];
    }
    for (int64_t i = even; i < columns; ++i) sums[0] += line[i];
    float sum = 0;
    for (const float part : sums) sum += part;
    const float share = 1 / sum;
    for (int64_t i = 0; i < columns; ++i) narrow(line[i] * share, scores[i]);
  }
}

}  // namespace

CRISP_SIMD void softmax_f32(float scale, int64_t begin, int64_t end, int64_t columns, void* matrix) {
  rows(scale, begin, end, columns, static_cast<float*>(matrix));
}

CRISP_SIMD void softmax_bf16(float scale, int64_t begin, int64_t end, int64_t columns, void* matrix) {
  rows(scale, begin, end, columns, static_cast<uint16_t*>(matrix));
}

}  // namespace crisp::model
