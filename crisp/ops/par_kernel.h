#pragma once

#include <cstdint>

// The raw-pointer face of PAR's CUDA kernels; no torch, so that nvcc can read it.
namespace crisp::ops {

inline constexpr int kMostDilations = 8;

struct ParProblem {
  const uint8_t* rgb;  // [height, width, 3]
  int height, width, labels;
  int dilations[kMostDilations], count;
  float w1, scale;     // scale: of all weights together
  const float* place;  // [8 * count] the position term
  int iterations;
  float* weights;  // [8 * count, height, width], room to work in
};

// scores, scratch: [labels, height, width]. Returns the one of the two that holds the result. Only in builds for CUDA.
float* par_cuda(const ParProblem& problem, float* scores, float* scratch, void* stream);

}  // namespace crisp::ops
