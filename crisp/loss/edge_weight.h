#pragma once

#include "crisp/loss/pixels.h"

namespace crisp::loss {

// How much each pixel counts where those near an edge of the labels count more, [N, H, W]:
//   w = (1 + strength [d < reach]) / mean over valid pixels of the same.
// `distance` [N, H, W] f32 is edge_distance() with its default limit; `reach`, in pixels, is below that limit.
torch::Tensor edge_weight(const torch::Tensor& distance, const Pixels& pixels, double strength, double reach);

}  // namespace crisp::loss
