#include <cmath>

#include "crisp/base/bf16.h"
#include "crisp/base/simd.h"
#include "crisp/model/vit_norm_kernel.h"

namespace crisp::model {
namespace {

// Always inlined, so that each clone of the callers has a copy for its own processor.
template <typename T>
[[gnu::always_inline]] inline void rows(const NormCall& call, int64_t begin, int64_t end, float* x, const T* branch,
                                        T* normed) {
  const int64_t dim = call.dim;
  constexpr int64_t kLanes = 16;
  for (int64_t row = begin; row < end; ++row) {
    float* line = x + row * dim;
    // Partial sums in lanes: the compiler may not reorder one float sum by itself.
    float sums[kLanes] = {};
    if (branch != nullptr) {
      const T* more = branch + row * dim;
      for (int64_t i = 0; i < dim; ++i) line[i] += wide(more[i]);
    }
    int64_t i = 0;
    for (; i + kLanes <= dim; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += line[i + lane];
    }
    for (; i < dim; ++i) sums[0] += line[i];
    float mean = 0;
    for (const float sum : sums) mean += sum;
    mean /= static_cast<float>(dim);
    float squares[kLanes] = {};
    for (i = 0; i + kLanes <= dim; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const float off = line[i + lane] - mean;
        squares[lane] += off * off;
      }
    }
    for (; i < dim; ++i) squares[0] += (line[i] - mean) * (line[i] - mean);
    float variance = 0;
    for (const float square : squares) variance += square;
    const float scale = 1 / std::sqrt(variance / static_cast<float>(dim) + call.eps);
    T* out = normed + row * dim;
    for (i = 0; i < dim; ++i) narrow((line[i] - mean) * scale * call.weight[i] + call.bias[i], out[i]);
  }
}

}  // namespace

CRISP_SIMD void add_and_norm_f32(const NormCall& call, int64_t begin, int64_t end, float* x, const void* branch,
                                 void* normed) {
  rows(call, begin, end, x, static_cast<const float*>(branch), static_cast<float*>(normed));
}

CRISP_SIMD void add_and_norm_bf16(const NormCall& call, int64_t begin, int64_t end, float* x, const void* branch,
                                  void* normed) {
  rows(call, begin, end, x, static_cast<const uint16_t*>(branch), static_cast<uint16_t*>(normed));
}

}  // namespace crisp::model
