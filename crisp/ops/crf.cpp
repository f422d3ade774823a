#include "crisp/ops/crf.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crisp/base/error.h"
#include "crisp/ops/crf_kernels.h"
#include "crisp/ops/permutohedral.h"

namespace crisp::ops {
namespace {

constexpr float kShift = 0.31f;  // in sigmas

void check(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> probabilities,
           std::span<float> marginals, const CrfOptions& options) {
  if (width < 1 || height < 1 || labels < 1)
    throw Error("CRF: an image of {} x {} pixels and {} labels; each must be at least 1", width, height, labels);
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t numbers = pixels * static_cast<size_t>(labels);
  if (rgb.size() != 3 * pixels || probabilities.size() != numbers || marginals.size() != numbers)
    throw Error("CRF: {} x {} pixels and {} labels need {} bytes and {} numbers; given {}, {} and {}", width, height,
                labels, 3 * pixels, numbers, rgb.size(), probabilities.size(), marginals.size());
  const auto positive = [](float value) { return value > 0 && std::isfinite(value); };
  const auto weight = [](float value) { return value >= 0 && std::isfinite(value); };
  if (!positive(options.spatial_sigma) || !positive(options.bilateral_sigma_xy) ||
      !positive(options.bilateral_sigma_rgb) || !positive(options.scale_factor))
    throw UsageError("CRF: sigmas and scale factor must be above 0");
  if (!weight(options.spatial_weight) || !weight(options.bilateral_weight) || options.iterations < 0)
    throw UsageError("CRF: weights and iterations must not be negative");
  if (!(options.floor > 0 && options.floor < 1)) throw UsageError("CRF: the floor of probabilities is between 0 and 1");
}

// Positions first: they have the larger range. `shift` moves all points, which no exact sum would notice.
Permutohedral bilateral_lattice(std::span<const uint8_t> rgb, int width, int height, const CrfOptions& options,
                                float shift) {
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  std::vector<float> features(Permutohedral::kDimensions * pixels);
  const float position = options.scale_factor / options.bilateral_sigma_xy, colour = 1 / options.bilateral_sigma_rgb;
  for (size_t i = 0; i < pixels; ++i) {
    const size_t column = i % static_cast<size_t>(width), row = i / static_cast<size_t>(width);
    features[i] = static_cast<float>(column) * position + shift;
    features[pixels + i] = static_cast<float>(row) * position + 0.61f * shift;
    for (size_t c = 0; c < 3; ++c) {
      features[(2 + c) * pixels + i] =
          static_cast<float>(rgb[3 * i + c]) * colour + 0.29f * shift * static_cast<float>(c + 1);
    }
  }
  return {features, pixels, options.lattice_budget};
}

// n_i of the symmetric normalisation, from the kernel's sum over a map of ones in the first of `stride` channels.
template <typename Filter>
std::vector<float> normalisation(size_t pixels, size_t stride, const Filter& filter) {
  std::vector<float> ones(pixels * stride, 0.0f), norm(pixels);
  for (size_t i = 0; i < pixels; ++i) ones[i * stride] = 1;
  filter(ones.data(), ones.data(), stride);
  for (size_t i = 0; i < pixels; ++i) norm[i] = 1 / std::sqrt(std::max(ones[i * stride], 1e-20f));
  return norm;
}

}  // namespace

void crf(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> probabilities,
         std::span<float> marginals, const CrfOptions& options) {
  check(rgb, width, height, labels, probabilities, marginals, options);
  const auto w = static_cast<size_t>(width), h = static_cast<size_t>(height), pixels = w * h;
  const auto count = static_cast<size_t>(labels);
  constexpr size_t kLanes = Permutohedral::kLanes;
  const size_t stride = (count + kLanes - 1) / kLanes * kLanes;

  // Labels beside each other from here on, padded with labels that are impossible.
  std::vector<float> log_prior(pixels * stride, kImpossible);
  for (size_t l = 0; l < count; ++l)
    for (size_t i = 0; i < pixels; ++i) {
      const float p = probabilities[l * pixels + i];
      log_prior[i * stride + l] = std::log(p > options.floor ? std::min(p, 1.0f) : options.floor);
    }
  std::vector<float> belief(pixels * stride);
  softmax_rows(log_prior.data(), belief.data(), pixels, stride);

  if (options.iterations > 0 && count > 1) {
    const bool near = options.spatial_weight > 0, alike = options.bilateral_weight > 0;
    const GaussianBlur blur(w, h, options.spatial_sigma / options.scale_factor);
    // Where a point lies in its simplex decides how far its sums are off. Two lattices, moved against each other, take
    // turns, so that iterations do not repeat each other's errors.
    std::vector<Permutohedral> lattices;
    for (const float shift : {0.0f, kShift}) {
      if (alike) lattices.push_back(bilateral_lattice(rgb, width, height, options, shift));
    }
    const auto spatial = [&](const float* in, float* out, size_t s) { blur.filter(in, out, s); };
    const std::vector<float> near_norm = near ? normalisation(pixels, kLanes, spatial) : std::vector<float>();
    std::vector<std::vector<float>> alike_norms;
    for (const Permutohedral& lattice : lattices) {
      alike_norms.push_back(
          normalisation(pixels, kLanes, [&](const float* in, float* out, size_t s) { lattice.filter(in, out, s); }));
    }

    std::vector<float> energy(pixels * stride), message(pixels * stride);
    for (int iteration = 0; iteration < options.iterations; ++iteration) {
      std::memcpy(energy.data(), log_prior.data(), energy.size() * sizeof(float));
      const auto add = [&](const std::vector<float>& norm, float strength, const auto& filter) {
        scale_rows(belief.data(), norm.data(), message.data(), pixels, stride);
        filter(message.data(), message.data(), stride);
        add_scaled_rows(message.data(), norm.data(), strength, energy.data(), pixels, stride);
      };
      if (near) add(near_norm, options.spatial_weight, spatial);
      if (alike) {
        const size_t turn = static_cast<size_t>(iteration) % lattices.size();
        add(alike_norms[turn], options.bilateral_weight,
            [&](const float* in, float* out, size_t s) { lattices[turn].filter(in, out, s); });
      }
      softmax_rows(energy.data(), belief.data(), pixels, stride);
    }
  }
  for (size_t l = 0; l < count; ++l)
    for (size_t i = 0; i < pixels; ++i) marginals[l * pixels + i] = belief[i * stride + l];
}

std::vector<float> label_probabilities(std::span<const uint8_t> map, int labels, float confidence) {
  if (labels < 1 || !(confidence > 0 && confidence <= 1))
    throw Error("label probabilities: {} labels at confidence {}; need at least one, and 0 to 1", labels, confidence);
  const auto count = static_cast<size_t>(labels);
  const float share = 1 / static_cast<float>(count);
  const float other = count == 1 ? 0 : (1 - confidence) / static_cast<float>(count - 1);
  std::vector<float> probabilities(count * map.size());
  for (size_t l = 0; l < count; ++l)
    for (size_t i = 0; i < map.size(); ++i)
      probabilities[l * map.size() + i] = map[i] >= count ? share : count == 1 ? 1 : map[i] == l ? confidence : other;
  return probabilities;
}

}  // namespace crisp::ops
