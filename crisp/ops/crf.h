#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crisp::ops {

// Parameters of the fully connected CRF. Potts compatibility; the kernels act on pixel positions in pixels and on
// colours from 0 to 255, with symmetric normalisation and one sigma a group of features: what the usual Python
// package does when nothing else is asked for. The defaults are the preset `psa`.
struct CrfOptions {
  int iterations = 10;
  float spatial_sigma = 3;
  float spatial_weight = 3;
  float bilateral_sigma_xy = 80;
  float bilateral_sigma_rgb = 13;
  float bilateral_weight = 10;
  // Both position sigmas are divided by it: say 500/320 keeps a preset's meaning on an image scaled from 500 to 320
  // pixels. Public code passes 1 nearly everywhere.
  float scale_factor = 1;
  // The lattice of the second kernel follows the exact sums more closely when it is filled up, which is done as long
  // as it stays below this many vertices. 0: never, as in public implementations.
  size_t lattice_budget = 400'000;
  // Probabilities below this count as this.
  float floor = 1e-5f;
};

// The parameter sets of the field's public code, by name: psa, irn, afa, toco, beco. Throws UsageError for others.
CrfOptions crf_preset(std::string_view name);
std::vector<std::string> crf_preset_names();
inline constexpr const char* kDefaultCrf = "beco";  // the best of them where they were measured: docs/method.md

// Mean field inference of the fully connected CRF (Kraehenbuehl and Koltun, 2011):
//   Q_i(l) ~ exp(log p_i(l) + sum_k w_k sum_j n_i n_j k_k(i, j) Q_j(l)),  n_i = (sum_j k_k(i, j))^-1/2
// for k a Gaussian of position and a Gaussian of position and colour, j running over all pixels, i too. The first
// sum is done directly, the second by a permutohedral lattice. One thread; callers run images in parallel. Takes about
// 100 + 20 labels bytes a pixel.
//
// rgb: [height, width, 3]; probabilities, marginals: [labels, height, width], and may be the same buffer.
// Probabilities outside [0, 1] are clipped and NaN counts as 0, so that marginals are always finite and sum to 1.
void crf(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> probabilities,
         std::span<float> marginals, const CrfOptions& options = {});

// Probabilities of a hard label map: `confidence` for the label given, the rest shared by the others; every label
// alike where the map says 255 or a label that does not exist. The unary of the preset `irn` (confidence 0.7).
// Returns [labels, map.size()].
std::vector<float> label_probabilities(std::span<const uint8_t> map, int labels, float confidence = 0.7f);

}  // namespace crisp::ops
