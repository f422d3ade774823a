#include "crisp/loss/edge_weight.h"

#include "crisp/loss/edges.h"

namespace crisp::loss {

torch::Tensor edge_weight(const torch::Tensor& distance, const Pixels& pixels, double strength, double reach) {
  const torch::Tensor weight = 1 + strength * (distance < reach / kEdgeLimit).to(torch::kFloat);
  // Where nothing is valid the mean is 0, and nothing is weighed either.
  return weight / mean_over(weight * pixels.valid, pixels.valid).clamp_min(1);
}

}  // namespace crisp::loss
