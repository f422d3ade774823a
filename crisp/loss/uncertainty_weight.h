#pragma once

#include "crisp/loss/pixels.h"
#include "crisp/ops/uncertainty.h"

namespace crisp::loss {

struct WeightOptions {
  bool aleatoric = true;  // sources of U; a source that the network does not have is left out
  bool entropy = true;
  ops::Range range = ops::Range::kPercentiles;
  double strength = 2;  // beta
};

// U = the mean of U~_ale and U~_ent, [N, 1, h, w] in f32, at the resolution of the network's maps (1/4), without
// gradient. U_ale = mean over classes of `variance` [N, K, h, w] (may be undefined), U_ent = the entropy of
// softmax(`refined`) [N, K, h, w]; ~ brings each image's map to 0..1. Undefined when no source is left.
torch::Tensor uncertainty_map(const torch::Tensor& refined, const torch::Tensor& variance,
                              const WeightOptions& options = {});

// w = exp(-strength Up(U)), [N, 1, h, w] -> [N, H, W].
torch::Tensor uncertainty_weight(const torch::Tensor& uncertainty, int64_t height, int64_t width, double strength = 2);

}  // namespace crisp::loss
