#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::ops {

// GELU(conv3x3(x) + bias), depthwise, padding 1, exact (erf) GELU.
// x [N, C, H, W], channels-last for speed; weight [C, 1, 3, 3]; bias [C].
torch::Tensor depthwise_gelu(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

}  // namespace crisp::ops
