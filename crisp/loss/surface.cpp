#include "crisp/loss/surface.h"

#include "crisp/loss/pixels.h"

namespace crisp::loss {

torch::Tensor surface(const torch::Tensor& probabilities, const torch::Tensor& distance, const torch::Tensor& known) {
  const torch::Tensor has_edge = (distance == 0).flatten(1).any(1).view({-1, 1, 1});
  const torch::Tensor counted = has_edge * (known.defined() ? known : torch::ones_like(distance));  // [N, H, W]
  const torch::Tensor far = distance * counted;
  // Along dimension `dim` of P: the change from each pixel but the last to the next one, weighed at the former.
  const auto change = [&](int64_t dim) {
    const int64_t steps = probabilities.size(dim) - 1;
    const torch::Tensor step = probabilities.narrow(dim, 1, steps) - probabilities.narrow(dim, 0, steps);
    return (step.abs().sum(1) * far.narrow(dim - 1, 0, steps)).sum();
  };
  return (change(3) + change(2)) / counted.sum().clamp_min(1);
}

}  // namespace crisp::loss
