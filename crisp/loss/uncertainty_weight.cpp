#include "crisp/loss/uncertainty_weight.h"

#include "crisp/loss/pixels.h"

namespace crisp::loss {

torch::Tensor uncertainty_map(const torch::Tensor& refined, const torch::Tensor& variance,
                              const WeightOptions& options) {
  const torch::NoGradGuard no_grad;
  torch::Tensor aleatoric, entropy;  // [N, h, w]
  if (options.aleatoric && variance.defined()) aleatoric = variance.to(torch::kFloat).mean(1);
  if (options.entropy) entropy = ops::relative_entropy(torch::log_softmax(refined.to(torch::kFloat).contiguous(), 1));
  if (!aleatoric.defined() && !entropy.defined()) return {};
  return ops::mixed_uncertainty({aleatoric, entropy}, options.range).unsqueeze(1);
}

torch::Tensor uncertainty_weight(const torch::Tensor& uncertainty, int64_t height, int64_t width, double strength) {
  const torch::NoGradGuard no_grad;
  return (upsampled(uncertainty, height, width).squeeze(1) * -strength).exp();
}

}  // namespace crisp::loss
