#include "crisp/metric/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "crisp/base/error.h"

namespace crisp::metric {
namespace {

constexpr float kSlack = 1e-4F;  // a softmax in 32 bits may end a little above 1
constexpr double kLeastProbability = 1e-12;
constexpr size_t kTurns = 4;
constexpr size_t kChunk = 2048;  // pixels whose sums stay in the fastest cache while the K planes pass by

void check_values(const std::string& name, const char* what, std::span<const float> values) {
  bool sound = true;
  for (const float value : values) sound &= (value >= -kSlack) & (value <= 1 + kSlack);  // false for NaN
  if (sound) return;
  const auto bad = std::find_if(values.begin(), values.end(),
                                [](float value) { return !(value >= -kSlack && value <= 1 + kSlack); });
  throw Error("{}: {} number {} is {}, not between 0 and 1; give probabilities (after the softmax)", name, what,
              bad - values.begin(), *bad);
}

void check_size(const std::string& name, const char* what, size_t size, size_t expected) {
  if (size != expected) throw Error("{}: {} {} were given, expected {}", name, size, what, expected);
}

// Bins [i/n, (i+1)/n), the last with 1. The edges are rounded once, as a confidence stored in 8 bits is, so
// that v/255 on an edge falls on its own side.
class Binning {
 public:
  explicit Binning(int count) : scale_(static_cast<float>(count)), last_(static_cast<size_t>(count) - 1) {
    for (int i = 0; i < count; ++i) edges_.push_back(static_cast<float>(i) / scale_);
    edges_.push_back(2);  // nothing is above the last bin
  }
  size_t operator()(float value) const {
    // The product may round across an edge by one bin, either way.
    const size_t bin = std::min(static_cast<size_t>(value * scale_), last_);
    return bin + (value >= edges_[bin + 1]) - (value < edges_[bin]);
  }

 private:
  float scale_;
  size_t last_;
  std::vector<float> edges_;
};

}  // namespace

void score_certainty(const std::string& name, const image::Mask& truth, const image::Mask& prediction,
                     const Certainty& certainty, const Options& options, ImageScores& scores) {
  const size_t pixels = truth.labels.size();
  const size_t classes = static_cast<size_t>(options.classes);
  const std::span<const float> confidence = certainty.confidence, probabilities = certainty.probabilities;
  if (confidence.empty() && probabilities.empty()) return;
  if (!confidence.empty()) {
    check_size(name, "confidences", confidence.size(), pixels);
    check_values(name, "confidence", confidence);
  }
  if (!probabilities.empty()) {
    check_size(name, "probabilities", probabilities.size(), pixels * classes);
    check_values(name, "probability", probabilities);
  }

  // Neighbouring pixels often share a bin; taking turns between a few tables keeps their sums from waiting for
  // each other.
  const Binning bin_of(options.ece_bins);
  const size_t bins = static_cast<size_t>(options.ece_bins);
  std::vector<ConfidenceBin> turns(kTurns * bins);
  for (size_t i = 0; i < pixels; ++i) {
    const uint8_t t = truth.labels[i], p = prediction.labels[i];
    if (t == options.ignore || p >= classes) continue;
    const float sure = std::clamp(confidence.empty() ? probabilities[p * pixels + i] : confidence[i], 0.0F, 1.0F);
    ConfidenceBin& bin = turns[(i % kTurns) * bins + bin_of(sure)];
    ++bin.pixels;
    bin.correct += t == p;
    bin.confidence += static_cast<double>(sure);
  }
  scores.bins.assign(bins, {});
  for (size_t i = 0; i < turns.size(); ++i) {
    ConfidenceBin& bin = scores.bins[i % bins];
    bin.pixels += turns[i].pixels;
    bin.correct += turns[i].correct;
    bin.confidence += turns[i].confidence;
  }
  if (probabilities.empty()) return;

  std::array<double, kChunk> squares;
  for (size_t begin = 0; begin < pixels; begin += kChunk) {
    const size_t count = std::min(kChunk, pixels - begin);
    std::fill_n(squares.begin(), count, 0.0);
    for (size_t k = 0; k < classes; ++k) {
      const float* plane = probabilities.data() + k * pixels + begin;
      for (size_t i = 0; i < count; ++i) squares[i] += static_cast<double>(plane[i]) * static_cast<double>(plane[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const uint8_t t = truth.labels[begin + i];
      if (t == options.ignore) continue;
      const double right = static_cast<double>(probabilities[t * pixels + begin + i]);
      ++scores.probability_pixels;
      scores.brier += squares[i] - 2 * right + 1;
      scores.nll -= std::log(std::max(right, kLeastProbability));
    }
  }
}

}  // namespace crisp::metric
