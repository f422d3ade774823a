#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace crisp::ops {

// Pixel-adaptive refinement, as AFA (Ru et al., 2022) does it.
struct ParOptions {
  std::vector<int> dilations = {1, 2, 4, 8, 12, 24};
  int iterations = 10;
  float w1 = 0.3f;   // sharpness of both terms: smaller trusts the likest neighbours more
  float w2 = 0.01f;  // share of the position term
  // The weights of a pixel sum to 1 + w2 in AFA's code, so that scores grow by that factor with every iteration;
  // divided by it, distributions stay distributions. Labels are the same either way.
  bool keep_sum = true;
  // Up to this many bytes of neighbour weights are kept between iterations; beyond, they are computed anew.
  size_t memory = size_t{1} << 30;
};

// Repeats p_i = sum_j w_ij p_j over the 8 neighbours j of pixel i at each dilation, with
//   w_ij = softmax_j(-mean_c (|I_i - I_j| / (s_i w1))^2) + w2 softmax_j(-(|x_i - x_j| / (s w1))^2)
// where s_i is the deviation of the neighbours' values, a channel at a time, and s that of their distances. A
// neighbour outside the frame is the nearest pixel inside. One thread; callers run images in parallel.
//
// rgb: [height, width, 3]; scores, refined: [labels, height, width], and may be the same buffer. Scores that are not
// finite count as 0.
void par(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> scores,
         std::span<float> refined, const ParOptions& options = {});

// The parts that kernels elsewhere share. A problem with what was given is an error.
void check_par(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> scores,
               std::span<float> refined, const ParOptions& options);
// w2 times the softmax of the position term, the same for every pixel: 8 numbers a dilation, row by row.
std::vector<float> par_place_weights(const ParOptions& options);

using ParFunction = std::function<void(std::span<const uint8_t> rgb, int width, int height, int labels,
                                       std::span<const float> scores, std::span<float> refined, const ParOptions&)>;

}  // namespace crisp::ops
