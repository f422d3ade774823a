#pragma once

#include <algorithm>
#include <cstdint>

namespace crisp::ops {

// Where output position `at` of `out_size` falls in a row of `in_size`: half-pixel centres, clamped at the ends.
struct Tap {
  int64_t low, high;
  float share;  // of `high`; the rest is `low`'s
};

inline Tap bilinear_tap(int64_t at, int64_t out_size, int64_t in_size) {
  const float scale = static_cast<float>(in_size) / static_cast<float>(out_size);
  const float position = std::max(0.0f, scale * (static_cast<float>(at) + 0.5f) - 0.5f);
  const int64_t low = std::min(static_cast<int64_t>(position), in_size - 1);
  return {low, std::min(low + 1, in_size - 1), position - static_cast<float>(low)};
}

// out = (1 - share) * a + share * b.
void blend_rows(float* out, const float* a, const float* b, float share, int64_t count);

}  // namespace crisp::ops
