#include "crisp/loss/boundary.h"

#include "crisp/loss/pixels.h"

namespace crisp::loss {

torch::Tensor boundary(const torch::Tensor& logits, const torch::Tensor& band, const torch::Tensor& weight) {
  const torch::Tensor edge = (band == 1).to(torch::kFloat);
  const torch::Tensor known = (band <= 1).to(torch::kFloat);
  const torch::Tensor counted = weight.defined() ? known * weight : known;
  const torch::Tensor cross_entropy =
      torch::binary_cross_entropy_with_logits(logits, edge, /*weight=*/{}, /*pos_weight=*/{}, at::Reduction::None);
  const torch::Tensor predicted = torch::sigmoid(logits) * counted;
  const torch::Tensor dice = 1 - (2 * (predicted * edge).sum() + 1) / (predicted.sum() + (counted * edge).sum() + 1);
  return mean_over(cross_entropy * counted, known) + dice;
}

}  // namespace crisp::loss
