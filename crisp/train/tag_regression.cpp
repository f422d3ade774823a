#include "crisp/train/tag_regression.h"

#include "crisp/base/error.h"
#include "crisp/tensor/lbfgs.h"

namespace crisp::train {
namespace {

constexpr double kSmallWeights = 0.01;
constexpr double kLeastSpread = 0.1;
constexpr int kIterations = 100;

}  // namespace

TagLayer learn_tags(const torch::Tensor& features, const torch::Tensor& tags) {
  if (features.size(0) != tags.size(0)) {
    throw Error("{} photos have features and {} have tags", features.size(0), tags.size(0));
  }
  const torch::Tensor mean = features.mean(0), spread = features.std(0, /*unbiased=*/false);
  const torch::Tensor deviation = torch::maximum(spread, kLeastSpread * spread.mean()) + 1e-6;
  const torch::Tensor x = (features - mean) / deviation, y = tags.to(torch::kFloat);
  const int64_t classes = tags.size(1);
  torch::Tensor weight = torch::zeros({classes, features.size(1)}).requires_grad_();
  torch::Tensor bias = torch::zeros({classes}).requires_grad_();
  torch::optim::LBFGS optimizer(
      {weight, bias},
      torch::optim::LBFGSOptions(1).max_iter(kIterations).history_size(10).line_search_fn("strong_wolfe"));
  optimizer.step([&] {
    const torch::AutoGradMode learns(true);
    optimizer.zero_grad();
    const torch::Tensor said = torch::linear(x, weight, bias);
    // Summed over classes: each is a problem of its own.
    const torch::Tensor loss =
        torch::binary_cross_entropy_with_logits(said, y) * classes + kSmallWeights * weight.square().sum();
    loss.backward();
    return loss;
  });
  const torch::NoGradGuard no_grad;
  const torch::Tensor own = weight.detach() / deviation;
  return {own, bias.detach() - own.matmul(mean)};
}

}  // namespace crisp::train
