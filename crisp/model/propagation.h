#pragma once

#include "crisp/model/layers.h"

namespace crisp::model {

// Scores follow the photo: a cell asks the cells around it that look like it, some steps far, and where to ask is
// learned:
//   Z' = A ... A Z*, A from the colours of the photo at 1/4 of its size (ops/propagate.h)
//   Z* becomes Z* + g (Z' - Z*), g = sigmoid(Conv1x1(F))
// A is the one of pixel-adaptive refinement (Ru et al., 2022). As a layer, whose scores learn to be propagated, it is
// what convolutional spatial propagation (Cheng et al., 2018) is to depth maps. On a frozen ViT, whose tokens are
// coarse, scores are brought to a finer grid first.
struct PropagationImpl : torch::nn::Module, Drawn {
  PropagationImpl(int64_t width, int64_t steps);

  // Normalised images [N, 3, H, W], F and Z* -> the new Z* [N, K, rows, columns], in f32.
  torch::Tensor forward(const torch::Tensor& images, const torch::Tensor& fused, const torch::Tensor& scores,
                        int64_t rows, int64_t columns);
  void draw() override;  // half of what neighbours say, everywhere

  const int64_t steps;
  Conv gate{nullptr};
};
TORCH_MODULE(Propagation);

}  // namespace crisp::model
