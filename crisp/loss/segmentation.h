#pragma once

#include "crisp/loss/pixels.h"

namespace crisp::loss {

// The two region losses. Both take what was computed once from Up(Z*), and a weight w [N, H, W] without gradient;
// undefined counts as 1.

// sum(M w CE) / max(1, sum M), CE [N, H, W] from pixel_cross_entropy().
torch::Tensor weighted_cross_entropy(const torch::Tensor& cross_entropy, const Pixels& pixels,
                                     const torch::Tensor& weight);

// Soft Dice over the batch: the mean over classes k that have a valid pixel of
//   1 - (2 sum(M w P_k Y_k) + 1) / (sum(M w P_k) + sum(M w Y_k) + 1),
// P = `probabilities` [N, K, H, W], Y_k = 1 where the label is k. 0 when no class is present. `of_label` [N, H, W] is
// P_y, each pixel's probability of its own label: exp(-CE), so that no second gather over P is needed.
torch::Tensor soft_dice(const torch::Tensor& probabilities, const torch::Tensor& of_label, const Pixels& pixels,
                        const torch::Tensor& weight);

}  // namespace crisp::loss
