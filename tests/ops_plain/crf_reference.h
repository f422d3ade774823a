#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "crisp/ops/crf.h"

namespace crisp::test {

// Adds weight * exp(-|f_i - f_j|^2 / 2), symmetrically normalised, for all pairs of `count` points.
inline void add_dense_kernel(const std::vector<double>& features, size_t dimensions, double weight,
                             std::vector<double>& matrix) {
  const size_t count = features.size() / dimensions;
  std::vector<double> kernel(count * count), sums(count);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j) {
      double square = 0;
      for (size_t d = 0; d < dimensions; ++d) {
        const double difference = features[i * dimensions + d] - features[j * dimensions + d];
        square += difference * difference;
      }
      sums[i] += kernel[i * count + j] = std::exp(-0.5 * square);
    }
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j)
      matrix[i * count + j] += weight * kernel[i * count + j] / std::sqrt(sums[i] * sums[j]);
}

// The mean field of ops::crf with every Gaussian sum written out, in double: O(pixels^2), for small images.
inline std::vector<float> crf_reference(const std::vector<uint8_t>& rgb, int width, int height, int labels,
                                        const std::vector<float>& probabilities, const ops::CrfOptions& options) {
  const auto pixels = static_cast<size_t>(width * height), count = static_cast<size_t>(labels);
  std::vector<double> near, alike, matrix(pixels * pixels);
  for (size_t i = 0; i < pixels; ++i) {
    const double x = static_cast<double>(i % static_cast<size_t>(width)) * options.scale_factor;
    const double y = static_cast<double>(i / static_cast<size_t>(width)) * options.scale_factor;
    near.insert(near.end(), {x / options.spatial_sigma, y / options.spatial_sigma});
    alike.insert(alike.end(), {x / options.bilateral_sigma_xy, y / options.bilateral_sigma_xy});
    for (size_t c = 0; c < 3; ++c) alike.push_back(rgb[3 * i + c] / static_cast<double>(options.bilateral_sigma_rgb));
  }
  add_dense_kernel(near, 2, options.spatial_weight, matrix);
  add_dense_kernel(alike, 5, options.bilateral_weight, matrix);

  std::vector<double> belief(count * pixels), next(count * pixels);
  for (int iteration = 0; iteration <= options.iterations; ++iteration) {
    for (size_t i = 0; i < pixels; ++i) {
      double most = -1e300, sum = 0;
      for (size_t l = 0; l < count; ++l) {
        double energy = std::log(std::max(probabilities[l * pixels + i], options.floor));
        if (iteration > 0)
          for (size_t j = 0; j < pixels; ++j) energy += matrix[i * pixels + j] * belief[l * pixels + j];
        next[l * pixels + i] = energy;
        most = std::max(most, energy);
      }
      for (size_t l = 0; l < count; ++l) sum += next[l * pixels + i] = std::exp(next[l * pixels + i] - most);
      for (size_t l = 0; l < count; ++l) next[l * pixels + i] /= sum;
    }
    belief.swap(next);
  }
  return {belief.begin(), belief.end()};
}

}  // namespace crisp::test
