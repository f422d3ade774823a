#include "crisp/loss/presence.h"

namespace crisp::loss {

torch::Tensor presence(const torch::Tensor& logits, const torch::Tensor& target) {
  const torch::Tensor known = (target >= 0).to(torch::kFloat);
  const torch::Tensor each = torch::binary_cross_entropy_with_logits(logits.to(torch::kFloat), target.clamp_min(0), {},
                                                                     {}, at::Reduction::None);
  return (each * known).sum() / known.sum().clamp_min(1);
}

}  // namespace crisp::loss
