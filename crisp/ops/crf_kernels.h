#pragma once

#include <cstddef>
#include <vector>

namespace crisp::ops {

// The inner loops of the CRF. Maps are [pixels, stride]: the labels of a pixel lie beside each other, and stride is
// a multiple of 4.

// The log probability of a label that is only there to fill a vector.
inline constexpr float kImpossible = -1e4f;

// Softmax of each pixel. Probabilities stop at e^-50 instead of 0, which keeps slow denormals out of the filters.
void softmax_rows(const float* logits, float* out, size_t pixels, size_t stride);

// out = factor[pixel] * in.
void scale_rows(const float* in, const float* factor, float* out, size_t pixels, size_t stride);

// out += strength * factor[pixel] * in.
void add_scaled_rows(const float* in, const float* factor, float strength, float* out, size_t pixels, size_t stride);

// Sums with a Gaussian of the distance between pixels, sum_j exp(-|x_i - x_j|^2 / (2 sigma^2)) in_j with j inside the
// frame, computed directly: two passes, cut at 4.5 sigma (where the kernel is 4e-5). Unlike a lattice it is exact, and
// for the few pixels of sigma in use it costs less.
class GaussianBlur {
 public:
  GaussianBlur(size_t width, size_t height, float sigma);
  // in and out may be the same buffer.
  void filter(const float* in, float* out, size_t stride) const;

 private:
  size_t width_, height_;
  std::vector<float> taps_;  // taps_[d] for distance d
};

}  // namespace crisp::ops
