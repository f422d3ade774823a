#include "crisp/ops/bilinear.h"

#include "crisp/base/simd.h"

namespace crisp::ops {

CRISP_SIMD void blend_rows(float* __restrict out, const float* a, const float* b, float share, int64_t count) {
  const float rest = 1 - share;
  for (int64_t i = 0; i < count; ++i) out[i] = rest * a[i] + share * b[i];
}

}  // namespace crisp::ops
