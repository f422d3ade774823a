#pragma once

#include "crisp/model/layers.h"

namespace crisp::model {

// conv3x3 - batch norm - ReLU - conv1x1: the shape of the variance, boundary and refinement branches.
struct SmallHeadImpl : ConvNormImpl {
  SmallHeadImpl(int64_t in, int64_t hidden, int64_t out);
  torch::Tensor forward(const torch::Tensor& x);

  Conv out{nullptr};
};
TORCH_MODULE(SmallHead);

// Aleatoric variance: sigma^2 = min(softplus(rho) + 0.1, 10), in f32. Starts near 1.
struct VarianceHeadImpl : SmallHeadImpl, Drawn {
  VarianceHeadImpl(int64_t width, int64_t hidden, int64_t classes);
  torch::Tensor forward(const torch::Tensor& fused);  // sigma^2 [N, K, h, w]
  void draw() override;
};
TORCH_MODULE(VarianceHead);

// Uncertainty-guided refiner: Delta from cat(F, softmax(Z), U), gate G from cat(F, U); Z* = Z + G * Delta.
// The last layer starts at zero and the gate near closed, so at first Z* = Z.
struct RefinerImpl : SmallHeadImpl, Drawn {
  RefinerImpl(int64_t width, int64_t hidden, int64_t classes);
  // Returns Z* and leaves G in `gate`.
  torch::Tensor forward(const torch::Tensor& fused, const torch::Tensor& logits, const torch::Tensor& uncertainty,
                        bool detach, torch::Tensor& gate_out);
  void draw() override;

  Conv gate{nullptr};
};
TORCH_MODULE(Refiner);

}  // namespace crisp::model
