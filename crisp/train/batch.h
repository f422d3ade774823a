#pragma once

#include <vector>

#include "crisp/data/augment.h"
#include "crisp/tensor/torch.h"

namespace crisp::train {

// A batch's parts as tensors on the device. All examples have one size.
torch::Tensor images_of(const std::vector<data::Example>& batch, torch::Device device);  // normalised [N, 3, H, W]
torch::Tensor maps_of(const std::vector<data::Example>& batch, image::Mask data::Example::* map,
                      torch::Device device);                                                // uint8 [N, H, W]
torch::Tensor distances_of(const std::vector<data::Example>& batch, torch::Device device);  // f32 [N, H, W]

// fp16 [N, blocks, h, w, dim], mirrored where the example is; undefined where the examples have none.
torch::Tensor tokens_of(const std::vector<data::Example>& batch, torch::Device device);

// f32 [N, classes - 1] on the CPU: 1 for a tag, else 0. The background has no
// column.
torch::Tensor tag_matrix(const std::vector<data::Example>& batch, size_t classes);

}  // namespace crisp::train
