#pragma once

#include <cstdint>

// The raw-pointer face of weighted_upsample's kernels; no torch, so that nvcc can read it.
namespace crisp::ops {

struct UpsampleMap {
  const void* data;  // [N, height, width, channels]
  int64_t height, width;
};

struct UpsampleProblem {
  const UpsampleMap* maps;  // the first has the output's size
  int scales;               // at most 4
  const float* weights;     // [N, scales, H, W] or null
  int64_t batch, channels;
  bool relu;
};

// Rows [first, last) of the batch * height output rows, f32.
void weighted_upsample_rows_cpu(const UpsampleProblem& problem, float* out, int64_t first, int64_t last);

enum class UpsampleType { kFloat, kHalf, kBfloat16 };

// Channels must be a multiple of 8. Only in builds for CUDA.
void weighted_upsample_cuda(const UpsampleProblem& problem, UpsampleType type, void* out, void* stream);

}  // namespace crisp::ops
