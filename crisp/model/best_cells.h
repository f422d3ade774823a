#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::model {

// Share of the photo in each cell of a map: `photo` [N, 1, H, W] is 1 on the photo and 0 on padding; undefined: all 1.
torch::Tensor photo_share(const torch::Tensor& photo, const torch::Tensor& maps);

// Mean of the best cells of each map [N, C, h, w], so many as `fraction` of all, in f32. Cells that are mostly padding
// are nobody's best.
torch::Tensor mean_of_best(const torch::Tensor& maps, const torch::Tensor& share, double fraction);

}  // namespace crisp::model
