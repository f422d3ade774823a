#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::ops {

// argmax over classes of the bilinearly upsampled logits [K, h, w] -> labels [H, W], uint8 on the CPU.
// On the CPU the [K, H, W] map is never stored. Ties go to the smaller class.
torch::Tensor upsample_labels(const torch::Tensor& logits, int64_t height, int64_t width);
torch::Tensor upsample_labels_reference(const torch::Tensor& logits, int64_t height, int64_t width);

}  // namespace crisp::ops
