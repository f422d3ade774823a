#pragma once

#include <vector>

#include "crisp/tensor/torch.h"

namespace crisp::seed {

// How maps are spread over what looks alike (power 0: not at all).
struct SimilarityOptions {
  double power = 4;      // of the similarity: the higher, the fewer cells speak for one another
  int rounds = 2;        // each after stretching the maps to 0..1
  bool centred = true;   // the photo's mean is taken off the features
  int64_t cells = 3072;  // at most, in the grid it is done on; by default that of C2 (1/8)

  bool on() const { return power > 0 && rounds > 0; }
};

void check(const SimilarityOptions& options);

// Activation maps [T, h, w] of one photo, spread over the cells that the encoder finds alike: m_i <- sum_j a_ij m_j /
// sum_j a_ij with a_ij = max(0, s_ij)^power, s_ij the mean over `features` [C, h', w'] of the cosine of cells i and j,
// where asked with the photo's mean taken off first. A classifier's maps light up where it is told from other classes;
// features say what else belongs to that. The pixel correlation of SEAM (Wang et al., 2020) without its training. On
// MiT taking off the mean is what makes it tell objects from the rest of their photo; DINOv2's tokens do so by
// themselves.
// -> [T, rows, columns] on the grid of the second feature map (of the first where it is the only one), each 0..1.
torch::Tensor spread_over_similar(const torch::Tensor& maps, const std::vector<torch::Tensor>& features,
                                  const SimilarityOptions& options);

// Each map [T, h, w] stretched to 0..1.
torch::Tensor stretched(const torch::Tensor& maps);

}  // namespace crisp::seed
