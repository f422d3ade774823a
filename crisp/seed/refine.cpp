#include "crisp/seed/refine.h"

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/image/resize.h"
#include "crisp/ops/affinity_walk.h"

namespace crisp::seed {
namespace {

constexpr int kRadius = 5;

const char* word(Refinement step) {
  return step == Refinement::kCrf ? "crf" : step == Refinement::kPar ? "par" : "affinity";
}

// The walk happens at stride 8: label by label, the map is averaged down, walked, and brought back.
void walk(const AffinityFeatures& features, const RefineOptions& options, Posterior& p) {
  const ops::AffinityWalk walk(
      ops::feature_affinities(features.values, features.channels, features.height, features.width, kRadius),
      features.height, features.width, kRadius, options.walk_beta);
  const size_t pixels = p.pixels(), cells = static_cast<size_t>(features.width) * static_cast<size_t>(features.height);
  const size_t count = p.labels.size();
  std::vector<float> small(count * cells);
  const auto plane = [&](size_t k) {
    const auto begin = p.probabilities.begin() + static_cast<ptrdiff_t>(k * pixels);
    return std::vector<float>(begin, begin + static_cast<ptrdiff_t>(pixels));
  };
  for (size_t k = 0; k < count; ++k) {
    const std::vector<float> shrunk = image::resize_map(plane(k), p.width, p.height, features.width, features.height);
    std::copy(shrunk.begin(), shrunk.end(), small.begin() + static_cast<ptrdiff_t>(k * cells));
  }
  walk.apply(small, static_cast<int>(count), small, options.walk_steps);
  for (size_t k = 0; k < count; ++k) {
    const auto begin = small.begin() + static_cast<ptrdiff_t>(k * cells);
    const std::vector<float> grown = image::resize_map({begin, begin + static_cast<ptrdiff_t>(cells)}, features.width,
                                                       features.height, p.width, p.height);
    std::copy(grown.begin(), grown.end(), p.probabilities.begin() + static_cast<ptrdiff_t>(k * pixels));
  }
  normalise(p);
}

}  // namespace

std::vector<Refinement> parse_refinements(const std::vector<std::string>& words) {
  std::vector<Refinement> chain;
  for (const std::string& name : words) {
    if (name == "none") {
      if (words.size() > 1) throw UsageError("--refine none: it stands alone");
      return {};
    }
    const auto known = {Refinement::kCrf, Refinement::kPar, Refinement::kAffinity};
    const auto found = std::find_if(known.begin(), known.end(), [&](Refinement step) { return name == word(step); });
    if (found == known.end()) throw UsageError("--refine {}: it is none, or of crf, par, affinity", name);
    chain.push_back(*found);
  }
  return chain;
}

std::string to_string(const std::vector<Refinement>& chain) {
  std::vector<std::string> words;
  for (const Refinement step : chain) words.emplace_back(word(step));
  return words.empty() ? "none" : join(words, ",");
}

void refine(const image::Image& photo, const AffinityFeatures& features, const RefineOptions& options, Posterior& p) {
  const int labels = static_cast<int>(p.labels.size());
  if (labels < 2) return;  // nothing but background: nothing to decide
  for (const Refinement step : options.chain) {
    switch (step) {
      case Refinement::kCrf:
        ops::crf(photo.rgb, p.width, p.height, labels, p.probabilities, p.probabilities, options.crf);
        break;
      case Refinement::kPar:
        ops::par(photo.rgb, p.width, p.height, labels, p.probabilities, p.probabilities, options.par);
        normalise(p);
        break;
      case Refinement::kAffinity:
        walk(features, options, p);
        break;
    }
  }
}

}  // namespace crisp::seed
