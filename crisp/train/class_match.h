#pragma once

#include <vector>

#include "crisp/data/dataset.h"
#include "crisp/feature/store.h"
#include "crisp/model/segmenter.h"

namespace crisp::train {

// A student of noisy labels finds some classes in too many photos and others in too few, and draws some too large and
// others too small: it takes desks for monitors, rails for trains, and of people it knows the faces. Both can be seen
// without a mask, and mended: one number a class, added to its scores, with which the class is found in as many photos
// as are tagged with it, or fills as much of them as somebody says who knows them (matching of priors, Saerens et al.,
// 2002; distribution alignment, Berthelot et al., 2020; sizes as supervision, Pathak et al., 2015).
struct MatchTo {
  // The mean share of the photos tagged with it, one a class, 0: not known; none: photos are counted.
  std::vector<double> sizes;
};

struct ClassMatch {
  std::vector<double> offsets;  // one a class, within most_offset either way; the background's is 0
  std::vector<int64_t> tagged;  // photos with the tag
  std::vector<double> wanted, found,
      matched;  // photos, or by sizes their shares summed: asked for, without and with offsets
};

// Sizes are means that somebody guessed, so that they move less.
inline double most_offset(const MatchTo& to) { return to.sizes.empty() ? 2 : 1; }

// `count` of the samples, evenly spread over them; 0: all.
std::vector<data::Sample> spread_over(const std::vector<data::Sample>& samples, size_t count);

// What a network says of one photo, small: log-probabilities [K, at most kSmall, at most kSmall]. A class is found
// where it is the likeliest in a single cell: objects may be tiny.
struct SeenPhoto {
  torch::Tensor scores;
  std::vector<int> tags;
};
inline constexpr int64_t kSmall = 48;

SeenPhoto seen(const torch::Tensor& probabilities, const std::vector<int>& tags);  // [K, h, w]

// Offsets for these photos. A class that no photo is tagged with, or whose size is not known, keeps 0.
ClassMatch match(const std::vector<SeenPhoto>& photos, int64_t classes, const MatchTo& to = {});

// The same for a network, by single passes over `count` of the samples, evenly spread over them; 0: all.
ClassMatch match_network(model::Segmenter network, const std::vector<data::Sample>& samples, size_t count,
                         const MatchTo& to, torch::Device device, torch::ScalarType dtype, int workers, int64_t batch,
                         feature::Store* store = nullptr);

// The same network with `offsets` added to its scores, and to the offsets it has.
model::Segmenter shifted(const model::Segmenter& network, const std::vector<double>& offsets);

}  // namespace crisp::train
