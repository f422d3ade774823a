#include "crisp/ops/crf_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crisp/base/simd.h"
#include "crisp/ops/fast_exp.h"

namespace crisp::ops {
namespace {

CRISP_SIMD void softmax_4(const float* __restrict logits, float* __restrict out, size_t pixels) {
  for (size_t i = 0; i < pixels; ++i) {
    const float* in = logits + 4 * i;
    const float most = std::max(std::max(in[0], in[1]), std::max(in[2], in[3]));
    for (size_t l = 0; l < 4; ++l) out[4 * i + l] = std::max(in[l] - most, -50.0f);
  }
  for (size_t i = 0; i < 4 * pixels; ++i) out[i] = exp_negative(out[i]);
  for (size_t i = 0; i < pixels; ++i) {
    float* q = out + 4 * i;
    const float scale = 1 / ((q[0] + q[1]) + (q[2] + q[3]));
    for (size_t l = 0; l < 4; ++l) q[l] *= scale;
  }
}

CRISP_SIMD void softmax_any(const float* __restrict logits, float* __restrict out, size_t pixels, size_t stride) {
  for (size_t i = 0; i < pixels; ++i) {
    const float* in = logits + i * stride;
    float* q = out + i * stride;
    float most = in[0], sum = 0;
    for (size_t l = 1; l < stride; ++l) most = std::max(most, in[l]);
    for (size_t l = 0; l < stride; ++l) q[l] = exp_negative(std::max(in[l] - most, -50.0f));
    for (size_t l = 0; l < stride; ++l) sum += q[l];
    for (size_t l = 0; l < stride; ++l) q[l] *= 1 / sum;
  }
}

template <size_t Stride>
inline void scale(const float* __restrict in, const float* __restrict factor, float* __restrict out, size_t pixels,
                  size_t stride) {
  for (size_t i = 0; i < pixels; ++i)
    for (size_t l = 0; l < (Stride == 0 ? stride : Stride); ++l) {
      const size_t at = i * (Stride == 0 ? stride : Stride) + l;
      out[at] = factor[i] * in[at];
    }
}

// out[x] = sum over taps of row[x - d] + row[x + d], with `row` padded by zeros on both sides.
CRISP_SIMD void blur_row(const float* __restrict row, const float* taps, size_t count, size_t step,
                         float* __restrict out, size_t length) {
  for (size_t x = 0; x < length; ++x) out[x] = taps[0] * row[x];
  for (size_t d = 1; d < count; ++d) {
    const float tap = taps[d];
    const float* before = row - d * step;
    const float* after = row + d * step;
    for (size_t x = 0; x < length; ++x) out[x] += tap * (before[x] + after[x]);
  }
}

CRISP_SIMD void add_row(const float* __restrict row, float tap, float* __restrict out, size_t length) {
  for (size_t x = 0; x < length; ++x) out[x] += tap * row[x];
}

CRISP_SIMD void add_rows(const float* __restrict above, const float* __restrict below, float tap, float* __restrict out,
                         size_t length) {
  for (size_t x = 0; x < length; ++x) out[x] += tap * (above[x] + below[x]);
}

}  // namespace

void softmax_rows(const float* logits, float* out, size_t pixels, size_t stride) {
  // In pieces that stay in the first cache, since softmax_4 goes over them three times.
  constexpr size_t kPiece = 512;
  if (stride != 4) return softmax_any(logits, out, pixels, stride);
  for (size_t i = 0; i < pixels; i += kPiece) softmax_4(logits + 4 * i, out + 4 * i, std::min(kPiece, pixels - i));
}

CRISP_SIMD void scale_rows(const float* __restrict in, const float* __restrict factor, float* __restrict out,
                           size_t pixels, size_t stride) {
  if (stride == 4) return scale<4>(in, factor, out, pixels, stride);
  scale<0>(in, factor, out, pixels, stride);
}

CRISP_SIMD void add_scaled_rows(const float* __restrict in, const float* __restrict factor, float strength,
                                float* __restrict out, size_t pixels, size_t stride) {
  for (size_t i = 0; i < pixels; ++i) {
    const float by = strength * factor[i];
    for (size_t l = 0; l < stride; ++l) out[i * stride + l] += by * in[i * stride + l];
  }
}

GaussianBlur::GaussianBlur(size_t width, size_t height, float sigma) : width_(width), height_(height) {
  const size_t reach = std::max(width, height) - 1;  // no two pixels are further apart
  const double cut = std::min(std::ceil(4.5 * sigma), static_cast<double>(reach));
  for (size_t d = 0; d <= static_cast<size_t>(cut); ++d) {
    const double distance = static_cast<double>(d) / sigma;
    taps_.push_back(static_cast<float>(std::exp(-0.5 * distance * distance)));
  }
}

void GaussianBlur::filter(const float* in, float* out, size_t stride) const {
  const size_t length = width_ * stride, reach = taps_.size() - 1;
  std::vector<float> padded(length + 2 * reach * stride, 0.0f), across(height_ * length);
  for (size_t y = 0; y < height_; ++y) {
    std::memcpy(padded.data() + reach * stride, in + y * length, length * sizeof(float));
    blur_row(padded.data() + reach * stride, taps_.data(), taps_.size(), stride, across.data() + y * length, length);
  }
  for (size_t y = 0; y < height_; ++y) {
    float* row = out + y * length;
    std::fill_n(row, length, 0.0f);
    add_row(across.data() + y * length, taps_[0], row, length);
    for (size_t d = 1; d <= reach; ++d) {
      const bool above = d <= y, below = y + d < height_;
      if (above && below) {
        add_rows(across.data() + (y - d) * length, across.data() + (y + d) * length, taps_[d], row, length);
      } else if (above || below) {
        add_row(across.data() + (above ? y - d : y + d) * length, taps_[d], row, length);
      }
    }
  }
}

}  // namespace crisp::ops
