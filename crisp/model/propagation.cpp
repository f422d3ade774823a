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
                                       const torch::Tensor& scores, int64_t rows, int64_t columns) {
  const bool quarter = rows == (images.size(2) + 3) / 4 && columns == (images.size(3) + 3) / 4;
  const torch::Tensor colours = quarter ? torch::avg_pool2d(images, 4, 4, 0, /*ceil_mode=*/true)
                                        : torch::adaptive_avg_pool2d(images.to(torch::kFloat), {rows, columns});
  const auto on_grid = [&](const torch::Tensor& map) { return upsample(map.to(torch::kFloat), {rows, columns}); };
  const torch::Tensor before = on_grid(scores);
  const torch::Tensor after = ops::propagate(before, ops::propagation_weights(colours), steps);
  return before + torch::sigmoid(on_grid(gate->forward(fused))) * (after - before);
}

}  // namespace crisp::model
