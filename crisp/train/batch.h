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

}  // namespace crisp::train
