#include "crisp/ops/depthwise_gelu.h"

namespace crisp::ops {

torch::Tensor depthwise_gelu(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  torch::Tensor y = torch::conv2d(x, weight, bias, 1, 1, 1, x.size(1));
  return torch::GradMode::is_enabled() ? torch::gelu(y) : torch::gelu_(y);
}

}  // namespace crisp::ops
