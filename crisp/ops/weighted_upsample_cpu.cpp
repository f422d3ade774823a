#include <algorithm>
#include <vector>

#include "crisp/base/simd.h"
#include "crisp/ops/bilinear.h"
#include "crisp/ops/weighted_upsample_kernel.h"

namespace crisp::ops {
namespace {

CRISP_SIMD void set_scaled(float* __restrict out, const float* __restrict a, float factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = factor * a[i];
}

CRISP_SIMD void add_pair(float* __restrict out, const float* a, const float* b, float fa, float fb, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += fa * a[i] + fb * b[i];
}

CRISP_SIMD void clip(float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = std::max(out[i], 0.0f);
}

}  // namespace

// Each output row first blends, for every smaller scale, its two source rows (cheap: they are short), then
// every pixel adds two neighbours of that row a scale.
void weighted_upsample_rows_cpu(const UpsampleProblem& problem, float* out, int64_t first, int64_t last) {
  const int64_t height = problem.maps[0].height, width = problem.maps[0].width, channels = problem.channels;
  const auto scales = static_cast<size_t>(problem.scales);
  std::vector<std::vector<float>> rows(scales);
  std::vector<std::vector<Tap>> taps(scales);
  for (size_t s = 1; s < scales; ++s) {
    rows[s].resize(static_cast<size_t>(problem.maps[s].width * channels));
    for (int64_t x = 0; x < width; ++x) taps[s].push_back(bilinear_tap(x, width, problem.maps[s].width));
  }
  for (int64_t index = first; index < last; ++index) {
    const int64_t n = index / height, y = index % height;
    for (size_t s = 1; s < scales; ++s) {
      const UpsampleMap& map = problem.maps[s];
      const Tap vertical = bilinear_tap(y, height, map.height);
      const float* base = static_cast<const float*>(map.data) + n * map.height * map.width * channels;
      blend_rows(rows[s].data(), base + vertical.low * map.width * channels,
                 base + vertical.high * map.width * channels, vertical.share, map.width * channels);
    }
    const float* full = static_cast<const float*>(problem.maps[0].data) + index * width * channels;
    const auto weight = [&](size_t s, int64_t x) {
      if (problem.weights == nullptr) return 1.0f;
      return problem.weights[((n * problem.scales + static_cast<int64_t>(s)) * height + y) * width + x];
    };
    float* target = out + index * width * channels;
    for (int64_t x = 0; x < width; ++x, target += channels) {
      set_scaled(target, full + x * channels, weight(0, x), channels);
      for (size_t s = 1; s < scales; ++s) {
        const Tap& t = taps[s][static_cast<size_t>(x)];
        const float w = weight(s, x);
        add_pair(target, rows[s].data() + t.low * channels, rows[s].data() + t.high * channels, w * (1 - t.share),
                 w * t.share, channels);
      }
      if (problem.relu) clip(target, channels);
    }
  }
}

}  // namespace crisp::ops
