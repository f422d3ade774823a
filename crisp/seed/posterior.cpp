#include "crisp/seed/posterior.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/classes.h"
#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::seed {
namespace {

constexpr float kFloor = 1e-5f;

}  // namespace

Background parse_background(const std::string& text) {
  const std::string prefix = "power:";
  const bool power = text.starts_with(prefix);
  const auto value = parse_number(power ? text.substr(prefix.size()) : text);
  if (!value || (power ? !(*value > 0 && *value <= 1000) : !(*value > 0 && *value < 1))) {
    throw UsageError("--background {}: a number between 0 and 1 (0.45), or power:A for (1 - max)^A (power:4)", text);
  }
  return {power, *value};
}

std::string to_string(const Background& background) {
  return fmt::format("{}{}", background.power ? "power:" : "", background.value);
}

Posterior posterior(const Cams& cams, const Background& background) {
  Posterior p{cams.width, cams.height, allowed_labels(cams.classes, cams.background), {}};
  const size_t pixels = cams.pixels(), count = cams.classes.size();
  if (cams.background) {
    p.probabilities.resize(pixels);
    for (size_t i = 0; i < pixels; ++i) {
      float most = 0;
      for (size_t k = 0; k < count; ++k) most = std::max(most, cams.maps[k * pixels + i]);
      p.probabilities[i] = static_cast<float>(background.power ? std::pow(std::max(0.0f, 1 - most), background.value)
                                                               : background.value);
    }
  }
  p.probabilities.insert(p.probabilities.end(), cams.maps.begin(), cams.maps.end());
  normalise(p);
  return p;
}

void normalise(Posterior& p) {
  const size_t pixels = p.pixels(), count = p.labels.size();
  for (size_t i = 0; i < pixels; ++i) {
    float sum = 0;
    for (size_t k = 0; k < count; ++k) {
      float& value = p.probabilities[k * pixels + i];
      value = std::max(value, kFloor);
      sum += value;
    }
    for (size_t k = 0; k < count; ++k) p.probabilities[k * pixels + i] /= sum;
  }
}

data::Seed to_seed(const Posterior& p) {
  const size_t pixels = p.pixels(), count = p.labels.size();
  data::Seed seed{image::Mask(p.width, p.height), image::Mask(p.width, p.height)};
  for (size_t i = 0; i < pixels; ++i) {
    float first = -1, second = count > 1 ? -1 : 0;
    size_t best = 0;
    for (size_t k = 0; k < count; ++k) {
      const float value = p.probabilities[k * pixels + i];
      if (value > first) {
        second = std::max(second, first);
        first = value;
        best = k;
      } else {
        second = std::max(second, value);
      }
    }
    seed.labels.labels[i] = static_cast<uint8_t>(p.labels[best]);
    const float unsure = std::clamp(1 - (first - std::max(second, 0.0f)), 0.0f, 1.0f);
    seed.uncertainty.labels[i] = static_cast<uint8_t>(std::lround(255 * unsure));
  }
  return seed;
}

image::Mask best_labels(const Posterior& p) { return to_seed(p).labels; }

}  // namespace crisp::seed
