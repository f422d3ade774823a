#include "crisp/seed/refine.h"

#include <algorithm>

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

// The walk happens at stride 8: each of the planes [count, height, width] is averaged down, walked, and brought back.
void walk(const AffinityFeatures& features, const RefineOptions& options, int width, int height,
          std::vector<float>& planes) {
  const ops::AffinityWalk walk(
      ops::feature_affinities(features.values, features.channels, features.height, features.width, kRadius),
      features.height, features.width, kRadius, options.walk_beta);
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t cells = static_cast<size_t>(features.width) * static_cast<size_t>(features.height);
  const size_t count = planes.size() / pixels;
  const auto part = [](const std::vector<float>& from, size_t k, size_t size) {
    const auto begin = from.begin() + static_cast<ptrdiff_t>(k * size);
    return std::vector<float>(begin, begin + static_cast<ptrdiff_t>(size));
  };
  std::vector<float> small;
  for (size_t k = 0; k < count; ++k) {
    const std::vector<float> shrunk =
        image::resize_map(part(planes, k, pixels), width, height, features.width, features.height);
    small.insert(small.end(), shrunk.begin(), shrunk.end());
  }
  walk.apply(small, static_cast<int>(count), small, options.walk_steps);
  for (size_t k = 0; k < count; ++k) {
    const std::vector<float> grown =
        image::resize_map(part(small, k, cells), features.width, features.height, width, height);
    std::copy(grown.begin(), grown.end(), planes.begin() + static_cast<ptrdiff_t>(k * pixels));
  }
}

// Each map stretched to 0..1.
void stretch(Cams& cams) {
  const auto pixels = static_cast<ptrdiff_t>(cams.pixels());
  for (auto map = cams.maps.begin(); map != cams.maps.end(); map += pixels) {
    const auto [least, most] = std::minmax_element(map, map + pixels);
    const float low = *least, range = *most - low + 1e-5f;
    std::transform(map, map + pixels, map, [=](float value) { return (value - low) / range; });
  }
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

Posterior refined(const image::Image& photo, Cams cams, const AffinityFeatures& features, const Background& background,
                  const RefineOptions& options) {
  RefineOptions rest = options;
  if (options.walk_maps && !rest.chain.empty() && rest.chain[0] == Refinement::kAffinity) {
    rest.chain.erase(rest.chain.begin());
    if (!cams.maps.empty()) {
      walk(features, options, cams.width, cams.height, cams.maps);
      stretch(cams);
    }
  }
  Posterior p = posterior(cams, background);
  refine(photo, features, rest, p);
  return p;
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
        options.par_by(photo.rgb, p.width, p.height, labels, p.probabilities, p.probabilities, options.par);
        normalise(p);
        break;
      case Refinement::kAffinity:
        walk(features, options, p.width, p.height, p.probabilities);
        normalise(p);
        break;
    }
  }
}

}  // namespace crisp::seed
