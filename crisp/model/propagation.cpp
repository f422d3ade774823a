#include "crisp/model/propagation.h"

#include "crisp/ops/propagate.h"

namespace crisp::model {

PropagationImpl::PropagationImpl(int64_t width, int64_t steps_) : steps(steps_) {
  gate = register_module("gate", Conv(ConvShape{.in = width, .out = 1}));
}

void PropagationImpl::draw() {
  gate->weight.zero_();
  gate->bias.zero_();
}

torch::Tensor PropagationImpl::forward(const torch::Tensor& images, const torch::Tensor& fused,
                                       const torch::Tensor& scores) {
  const torch::Tensor colours = torch::avg_pool2d(images, 4, 4, 0, /*ceil_mode=*/true);
  const torch::Tensor before = scores.to(torch::kFloat);
  const torch::Tensor after = ops::propagate(before, ops::propagation_weights(colours), steps);
  return before + torch::sigmoid(gate->forward(fused).to(torch::kFloat)) * (after - before);
}

}  // namespace crisp::model
