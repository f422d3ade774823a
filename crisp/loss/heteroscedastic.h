#pragma once

#include "crisp/loss/pixels.h"

namespace crisp::loss {

// The likelihood that lets the variance head learn (Kendall and Gal, 2017), on the logits before refinement:
//   mean over M of CE / (2 sigma^2) + 0.5 log sigma^2.
// CE [N, H, W] of Up(Z); sigma^2 [N, H, W] positive, from one of the two below.
torch::Tensor heteroscedastic(const torch::Tensor& cross_entropy, const torch::Tensor& sigma2, const Pixels& pixels);

// sigma^2 of a pixel from the variance head's maps [N, K, h, w], upsampled to the labels' size: the mean over classes
// (U_ale), or that of the labelled class.
torch::Tensor mean_variance(const torch::Tensor& variance, const Pixels& pixels);
torch::Tensor label_variance(const torch::Tensor& variance, const Pixels& pixels);

}  // namespace crisp::loss
