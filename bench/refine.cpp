// Refinement of seeds on one core, at the size of a VOC photo: 500x375 pixels, 4 labels.
// The photo is synthetic but busy: its lattices are as large as those of real photos with much texture.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "crisp/base/random.h"
#include "crisp/ops/affinity_walk.h"
#include "crisp/ops/crf.h"
#include "crisp/ops/par.h"

namespace {

using crisp::Rng;

constexpr int kWidth = 500, kHeight = 375, kLabels = 4, kStride = 8;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

std::vector<uint8_t> photo() {
  Rng rng(1);
  std::vector<uint8_t> rgb;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const bool grass = y > 220 + 20 * std::sin(0.02 * x);
      const bool object = std::hypot(x - 260, 1.3 * (y - 200)) < 110;
      const double shade = grass ? 12 * rng.normal() : 2 * rng.normal();
      for (int c = 0; c < 3; ++c) {
        const double wave = std::sin(0.11 * x + c) * std::cos(0.07 * y) + std::sin(0.013 * x * (c + 1) + 0.02 * y);
        const double base = object  ? 150 - 30 * c + 20 * wave
                            : grass ? 70 + 20 * (c == 1) + 12 * wave
                                    : 150 + 25 * c + 8 * wave;
        rgb.push_back(static_cast<uint8_t>(std::clamp(base + shade + 2 * rng.normal(), 0.0, 255.0)));
      }
    }
  return rgb;
}

std::vector<float> posterior(int width, int height) {
  Rng rng(2);
  const auto pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  std::vector<float> p(kLabels * pixels);
  for (size_t i = 0; i < pixels; ++i) {
    const double x = static_cast<double>(i % static_cast<size_t>(width)) / width;
    const double y = static_cast<double>(i / static_cast<size_t>(width)) / height;
    double scores[kLabels], sum = 0;
    for (int l = 0; l < kLabels; ++l)
      sum += scores[l] =
          (l == 0 ? 0.4 : std::exp(-12 * (std::pow(x - 0.25 * l, 2) + std::pow(y - 0.5, 2)))) + 0.05 * rng.uniform();
    for (size_t l = 0; l < kLabels; ++l) p[l * pixels + i] = static_cast<float>(scores[l] / sum);
  }
  return p;
}

void crf(benchmark::State& state) {
  const std::string name = crisp::ops::crf_preset_names()[static_cast<size_t>(state.range(0))];
  const auto options = crisp::ops::crf_preset(name);
  const auto rgb = photo();
  const auto p = posterior(kWidth, kHeight);
  std::vector<float> out(p.size());
  for ([[maybe_unused]] auto _ : state) crisp::ops::crf(rgb, kWidth, kHeight, kLabels, p, out, options);
  state.SetLabel(name);
}
BENCHMARK(crf)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

void par(benchmark::State& state) {
  const auto rgb = photo();
  const auto p = posterior(kWidth, kHeight);
  std::vector<float> out(p.size());
  for ([[maybe_unused]] auto _ : state) crisp::ops::par(rgb, kWidth, kHeight, kLabels, p, out);
}
BENCHMARK(par)->Unit(benchmark::kMillisecond);

constexpr int kSmallWidth = (kWidth + kStride - 1) / kStride, kSmallHeight = (kHeight + kStride - 1) / kStride;

std::vector<float> features(int channels) {
  Rng rng(3);
  std::vector<float> made(static_cast<size_t>(channels * kSmallWidth * kSmallHeight));
  for (float& f : made) f = static_cast<float>(0.1 * rng.normal());
  return made;
}

// The stencil and 256 steps: what a photo costs once its affinities are known.
void affinity_walk(benchmark::State& state) {
  const auto affinities = crisp::ops::feature_affinities(features(64), 64, kSmallHeight, kSmallWidth);
  const auto p = posterior(kSmallWidth, kSmallHeight);
  std::vector<float> out(p.size());
  for ([[maybe_unused]] auto _ : state)
    crisp::ops::AffinityWalk(affinities, kSmallHeight, kSmallWidth).apply(p, kLabels, out);
}
BENCHMARK(affinity_walk)->Unit(benchmark::kMillisecond);

void feature_affinities(benchmark::State& state) {
  const auto made = features(64);
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(crisp::ops::feature_affinities(made, 64, kSmallHeight, kSmallWidth));
}
BENCHMARK(feature_affinities)->Unit(benchmark::kMillisecond);

}  // namespace
