#pragma once

#include <cstdint>

namespace crisp::model {

// Layer norm over rows of `dim` floats: weight * (x - mean) / sqrt(variance + eps) + bias.
struct NormCall {
  int64_t dim;
  float eps;
  const float *weight, *bias;
};

// Rows `begin` to `end`: x += branch, then normed = norm(x). `branch` and `normed` are f32 or bf16; a null branch adds
// nothing.
void add_and_norm_f32(const NormCall& call, int64_t begin, int64_t end, float* x, const void* branch, void* normed);
void add_and_norm_bf16(const NormCall& call, int64_t begin, int64_t end, float* x, const void* branch, void* normed);

}  // namespace crisp::model
