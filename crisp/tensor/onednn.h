#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// Products on the CPU by oneDNN with weights it has laid out once, which in bf16 take half the time of those it lays
// out each time. Torch registers these operators without a C++ header; they are called by name. For passes without
// gradients.

// Whether the processor computes in bf16.
bool cpu_has_bf16();

// A weight [out, in], f32 or bf16, in oneDNN's own order; only product() can read it. `rows` is how many it is usually
// multiplied with: others are as right, but maybe slower.
torch::Tensor packed_weight(const torch::Tensor& weight, int64_t rows);

enum class After { kNothing, kGelu };

// x [..., in] -> after(x weight^T + bias) [..., out]; all of one type.
torch::Tensor product(const torch::Tensor& x, const torch::Tensor& packed, const torch::Tensor& bias,
                      After after = After::kNothing);

// a [n, c], b [m, c], contiguous, of one type -> a b^T [n, m]. In f32 twice as fast as torch's products where those do
// not use the processor's widest registers.
torch::Tensor product_of_rows(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace crisp::tensor
