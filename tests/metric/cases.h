#pragma once

#include <algorithm>
#include <vector>

#include "crisp/base/random.h"
#include "crisp/image/image.h"

// Inputs that tests/goldens/metric.py makes too, by the same rules. The benchmark uses them as well.
namespace crisp::test {

// What is done to a real mask (void becomes background first): by index, shifted, one class dilated, two
// classes swapped, or salted.
inline image::Mask perturb(const image::Mask& truth, int index) {
  image::Mask base = truth;
  uint8_t label = 0;
  for (uint8_t& value : base.labels) {
    if (value == image::kIgnore) value = 0;
    label = std::max(label, value);
  }
  const int width = base.width, height = base.height;
  image::Mask out = base;
  const auto clamp = [](int v, int size) { return v < 0 ? 0 : v >= size ? size - 1 : v; };
  switch (index % 4) {
    case 0:  // shift by (3, -2), the frame repeated
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) out.row(y)[x] = base.row(clamp(y + 2, height))[clamp(x - 3, width)];
      }
      break;
    case 1:  // dilate the largest label by a 5x5 square
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          if (base.row(y)[x] != label) continue;
          for (int v = clamp(y - 2, height); v <= clamp(y + 2, height); ++v) {
            for (int u = clamp(x - 2, width); u <= clamp(x + 2, width); ++u) out.row(v)[u] = label;
          }
        }
      }
      break;
    case 2: {  // swap it with the next class
      const uint8_t other = static_cast<uint8_t>(label % 20 + 1);
      for (uint8_t& value : out.labels) value = value == label ? other : value == other ? label : value;
      break;
    }
    default: {  // 3% salt
      Rng random(7, static_cast<uint64_t>(index));
      std::vector<bool> noisy(out.labels.size());
      for (size_t i = 0; i < noisy.size(); ++i) noisy[i] = random.below(100) < 3;
      for (size_t i = 0; i < noisy.size(); ++i) {
        const uint8_t noise = static_cast<uint8_t>(random.below(21));
        if (noisy[i]) out.labels[i] = noise;
      }
    }
  }
  return out;
}

inline std::vector<float> confidences(const image::Mask& mask, int index) {
  Rng random(8, static_cast<uint64_t>(index));
  std::vector<float> values(mask.labels.size());
  for (float& value : values) value = static_cast<float>(static_cast<double>(503 + random.below(500)) / 1009.0);
  return values;
}

// [K, H, W]: whole weights over their sum, rounded once, the predicted label always the largest.
inline std::vector<float> probabilities(int set, int index, const image::Mask& prediction, int classes) {
  const size_t pixels = prediction.labels.size(), count = static_cast<size_t>(classes);
  Rng random(static_cast<uint64_t>(1000 + set), static_cast<uint64_t>(index));
  std::vector<double> weights(count * pixels), sums(pixels, 0.0);
  for (double& weight : weights) weight = static_cast<double>(random.below(1000) + 1);
  for (size_t c = 0; c < count; ++c) {
    for (size_t i = 0; i < pixels; ++i) {
      if (prediction.labels[i] == c) weights[c * pixels + i] += 1200;
      sums[i] += weights[c * pixels + i];
    }
  }
  std::vector<float> values(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) values[i] = static_cast<float>(weights[i] / sums[i % pixels]);
  return values;
}

}  // namespace crisp::test
