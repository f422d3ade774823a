#pragma once

#include <string>

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// "auto" (the first GPU where there is one, else the CPU), "cpu", "cuda", "cuda:N". Anything that this
// machine or this build cannot do is a UsageError that says why.
torch::Device parse_device(const std::string& text);

// "cpu", "cuda:0".
std::string device_name(const torch::Device& device);

// "f32", "fp16", "bf16" (and the usual other spellings) for computing and for storing weights.
torch::ScalarType parse_dtype(const std::string& text);

// "f32", "fp16", "bf16", "i64", ...: the names messages and reports use.
std::string dtype_name(torch::ScalarType type);

}  // namespace crisp::tensor
