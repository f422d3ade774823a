#include "crisp/infer/uncertainty.h"

#include <algorithm>
#include <cmath>

namespace crisp::infer {

torch::Tensor relative_entropy(const torch::Tensor& log_probabilities) {
  const auto classes = static_cast<double>(log_probabilities.size(-3));
  return -(log_probabilities.exp() * log_probabilities).sum(-3) / std::log(classes);
}

torch::Tensor normalise_percentiles(const torch::Tensor& map) {
  const torch::Tensor flat = map.flatten();
  const auto rank = [&](double share) {
    const auto at = static_cast<int64_t>(std::floor(share * static_cast<double>(flat.numel() - 1)));
    return std::get<0>(flat.kthvalue(at + 1));
  };
  const torch::Tensor low = rank(0.01), range = rank(0.99) - low;
  if (range.item<float>() <= 1e-12f) return torch::zeros_like(map);
  return ((map - low) / range).clamp(0, 1);
}

torch::Tensor mixed_uncertainty(const torch::Tensor& aleatoric, const torch::Tensor& entropy) {
  const torch::Tensor from_entropy = normalise_percentiles(entropy);
  return aleatoric.defined() ? 0.5 * normalise_percentiles(aleatoric) + 0.5 * from_entropy : from_entropy;
}

}  // namespace crisp::infer
