#include "crisp/model/recogniser.h"

#include "crisp/model/presence.h"

namespace crisp::model {

RecogniserImpl::RecogniserImpl(const std::string& name, int64_t classes) {
  network = register_module("network", EfficientNetLite(name));
  scores = register_module("scores", Linear(2 * kLiteFeatures, classes - 1));
}

torch::Tensor RecogniserImpl::pooled(const torch::Tensor& images) {
  const torch::Tensor maps = network->forward(images).to(torch::kFloat);
  return torch::cat({maps.mean({2, 3}), mean_of_best(maps, photo_share({}, maps), kPresenceShare)}, 1);
}

torch::Tensor RecogniserImpl::forward(const torch::Tensor& images) {
  return torch::linear(pooled(images), scores->weight.to(torch::kFloat), scores->bias.to(torch::kFloat));
}

}  // namespace crisp::model
