#include "crisp/ops/upsample_labels.h"

#include <vector>

#include "crisp/base/simd.h"
#include "crisp/ops/bilinear.h"

namespace crisp::ops {
namespace {

// One output row from a row of logits [w, K].
CRISP_SIMD void label_row(uint8_t* out, const float* row, const Tap* taps, int64_t width, int64_t classes) {
  for (int64_t x = 0; x < width; ++x) {
    const float* a = row + taps[x].low * classes;
    const float* b = row + taps[x].high * classes;
    const float share = taps[x].share, rest = 1 - share;
    float best = rest * a[0] + share * b[0];
    int64_t label = 0;
    for (int64_t k = 1; k < classes; ++k) {
      const float value = rest * a[k] + share * b[k];
      label = value > best ? k : label;
      best = value > best ? value : best;
    }
    out[x] = static_cast<uint8_t>(label);
  }
}

}  // namespace

torch::Tensor upsample_labels_reference(const torch::Tensor& logits, int64_t height, int64_t width) {
  const torch::Tensor full =
      torch::upsample_bilinear2d(logits.unsqueeze(0).to(torch::kFloat), {height, width}, /*align_corners=*/false);
  return full.argmax(1).squeeze(0).to(torch::kUInt8).cpu();
}

torch::Tensor upsample_labels(const torch::Tensor& logits, int64_t height, int64_t width) {
  if (!logits.is_cpu()) return upsample_labels_reference(logits, height, width);
  const torch::Tensor source = logits.to(torch::kFloat).permute({1, 2, 0}).contiguous();  // [h, w, K]
  const int64_t h = source.size(0), w = source.size(1), classes = source.size(2);
  const torch::Tensor labels = torch::empty({height, width}, torch::kUInt8);
  std::vector<Tap> taps;
  for (int64_t x = 0; x < width; ++x) taps.push_back(bilinear_tap(x, width, w));
  at::parallel_for(0, height, 16, [&](int64_t first, int64_t last) {
    std::vector<float> row(static_cast<size_t>(w * classes));
    for (int64_t y = first; y < last; ++y) {
      const Tap tap = bilinear_tap(y, height, h);
      const float* base = source.const_data_ptr<float>();
      blend_rows(row.data(), base + tap.low * w * classes, base + tap.high * w * classes, tap.share, w * classes);
      label_row(labels.mutable_data_ptr<uint8_t>() + y * width, row.data(), taps.data(), width, classes);
    }
  });
  return labels;
}

}  // namespace crisp::ops
