#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::loss {

// BCE + Dice of the boundary head against the band B of label edges, over pixels m where the band is known:
//   sum(m w BCE(e, B)) / max(1, sum m)  +  1 - (2 sum(m w s B) + 1) / (sum(m w s) + sum(m w B) + 1),  s = sigmoid(e).
// `logits` e [N, H, W] f32; `band` [N, H, W] uint8: 1, 0, or 255 where it is not known (boundary_band() makes it);
// `weight` w [N, H, W] without gradient, undefined counts as 1. 0 where nothing is known.
torch::Tensor boundary(const torch::Tensor& logits, const torch::Tensor& band, const torch::Tensor& weight);

}  // namespace crisp::loss
