#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::train {

// Four photos of a batch laid out two by two as one picture, and back. A network that attends to the whole picture
// can tell every cell what the picture shows, so a classifier's maps spread from a sheep over its meadow; when each
// tile is pooled by itself and answers for its own tags alone, cells must say what is there and not what is near.
torch::Tensor to_mosaics(const torch::Tensor& tiles);      // [4 N, C, H, W] -> [N, C, 2 H, 2 W]
torch::Tensor from_mosaics(const torch::Tensor& mosaics);  // [N, C, 2 H, 2 W] -> [4 N, C, H, W]

}  // namespace crisp::train
