#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::loss {

// Probabilities should change at label edges and nowhere else:
//   mean over pixels of |grad P|_1 d,
// |grad P|_1 = sum over classes of |P(x+1, y) - P(x, y)| + |P(x, y+1) - P(x, y)| (0 beyond the frame).
// P [N, K, H, W] f32; d [N, H, W] f32, 0 at an edge and 1 far from any (edge_distance() makes it). Images without an
// edge, where d is nowhere 0, are left out. `known` [N, H, W] f32, 0 or 1: the pixels that count; undefined: all.
torch::Tensor surface(const torch::Tensor& probabilities, const torch::Tensor& distance, const torch::Tensor& known);

}  // namespace crisp::loss
