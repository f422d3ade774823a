#pragma once

#include "crisp/loss/pixels.h"
#include "crisp/ops/uncertainty.h"

namespace crisp::loss {

struct WeightOptions {
  bool aleatoric = true;  // sources of U; a source that the network does not have is left out
  bool entropy = true;
  ops::Range range = ops::Range::kPercentiles;
  double strength = 2;  // beta
  // Divide w by its mean over the pixels of the same label in the batch: a class's uncertain pixels count less than
  // its certain ones, but no class less than another. Without it a student that sees background everywhere finds all
  // objects uncertain, discounts them, and goes on seeing background.
  bool by_class = false;
};

// U = the mean of U~_ale and U~_ent, [N, 1, h, w] in f32, at the resolution of the network's maps (1/4), without
// gradient. U_ale = mean over classes of `variance` [N, K, h, w] (may be undefined), U_ent = the entropy of
// softmax(`refined`) [N, K, h, w]; ~ brings each image's map to 0..1. Undefined when no source is left.
torch::Tensor uncertainty_map(const torch::Tensor& refined, const torch::Tensor& variance,
                              const WeightOptions& options = {});

// w = exp(-strength Up(U)), [N, 1, h, w] -> [N, H, W].
torch::Tensor uncertainty_weight(const torch::Tensor& uncertainty, int64_t height, int64_t width, double strength = 2);

// The same, divided by its mean over the valid pixels of each label.
torch::Tensor balanced_by_label(const torch::Tensor& weight, const Pixels& pixels);

}  // namespace crisp::loss
