#include "crisp/loss/heteroscedastic.h"

namespace crisp::loss {

torch::Tensor heteroscedastic(const torch::Tensor& cross_entropy, const torch::Tensor& sigma2, const Pixels& pixels) {
  return mean_over((cross_entropy / sigma2 + sigma2.log()) * (0.5 * pixels.valid), pixels.valid);
}

torch::Tensor mean_variance(const torch::Tensor& variance, const Pixels& pixels) {
  // The mean first: Up is linear, and K times smaller maps are upsampled.
  const torch::Tensor mean = variance.to(torch::kFloat).mean(1, /*keepdim=*/true);
  return upsampled(mean, pixels.index.size(1), pixels.index.size(2)).squeeze(1);
}

torch::Tensor label_variance(const torch::Tensor& variance, const Pixels& pixels) {
  const torch::Tensor all = upsampled(variance, pixels.index.size(1), pixels.index.size(2));
  return all.gather(1, pixels.index.unsqueeze(1)).squeeze(1);
}

}  // namespace crisp::loss
