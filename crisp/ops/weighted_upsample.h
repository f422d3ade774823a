#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::ops {

// sum_i w_i * Up(map_i), Up being bilinear to the size of maps[0]: the fusion of both decoders.
// maps[i] [N, E, h_i, w_i], maps[0] the largest; weights [N, S, H, W], or undefined for a plain sum;
// `relu` clips the sum at 0. Differentiable. On the CPU in f32 and on CUDA, without gradients and with
// channels-last maps, one pass writes the result and no upsampled map is ever stored.
torch::Tensor weighted_upsample(at::ArrayRef<torch::Tensor> maps, const torch::Tensor& weights, bool relu = false);

// The same from torch's own operators: the reference, and the way gradients take.
torch::Tensor weighted_upsample_reference(at::ArrayRef<torch::Tensor> maps, const torch::Tensor& weights, bool relu);

}  // namespace crisp::ops
