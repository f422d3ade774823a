#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::ops {

// How much each cell of a photo asks each of its neighbours: the 8 at distances 1, 2, 4 and 8. colours [N, C, h, w] ->
// [N, 32, h, w], f32, summing to 1 a cell:
//   a_ij = softmax_j(-mean_c((I_i - I_j) / (s_i sharpness))^2), s_i the deviation of the neighbours' values
// Outside the frame is the nearest cell inside. The colour term of pixel-adaptive refinement (Ru et al., 2022).
torch::Tensor propagation_weights(const torch::Tensor& colours, double sharpness = 0.3);

// `steps` times z_i = sum_j a_ij z_j, for scores [N, K, h, w]; f32. Differentiable in the scores, not in the weights:
// the gradient is the transposed walk, so that nothing is stored on the way.
torch::Tensor propagate(const torch::Tensor& scores, const torch::Tensor& weights, int64_t steps);

// Both from torch's own operators: the reference.
torch::Tensor propagation_weights_reference(const torch::Tensor& colours, double sharpness = 0.3);
torch::Tensor propagate_reference(const torch::Tensor& scores, const torch::Tensor& weights, int64_t steps);

}  // namespace crisp::ops
