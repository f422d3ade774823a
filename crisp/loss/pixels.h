#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::loss {

// Labels as the losses use them. M, the valid pixels, are those with a label under K: neither 255 nor any other number
// that is no class, which would end a process on a GPU if it were used as an index.
struct Pixels {
  torch::Tensor index;  // [N, H, W] int64; 0 where not valid
  torch::Tensor valid;  // M [N, H, W] f32, 0 or 1
  int64_t classes = 0;  // K
};

Pixels pixels_of(const torch::Tensor& labels, int64_t classes);  // labels [N, H, W] uint8

// Up: [N, C, h, w] in any type -> [N, C, H, W] in f32, bilinear with half-pixel centres.
torch::Tensor upsampled(const torch::Tensor& maps, int64_t height, int64_t width);

// -log p of each pixel's label, [N, K, H, W] -> [N, H, W]; meaningless where not valid.
torch::Tensor pixel_cross_entropy(const torch::Tensor& log_probabilities, const Pixels& pixels);

// sum over pixels of each label of `values` [N, H, W] (0 where not valid) -> [K].
torch::Tensor sum_by_label(const torch::Tensor& values, const Pixels& pixels);

// sum(values) / max(1, sum(count)): a mean that is 0, with a zero gradient, where there is nothing to count.
torch::Tensor mean_over(const torch::Tensor& values, const torch::Tensor& count);

}  // namespace crisp::loss
