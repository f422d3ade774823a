#pragma once

#include <vector>

#include "crisp/data/dataset.h"
#include "crisp/model/segmenter.h"

namespace crisp::train {

// A student of noisy labels finds some classes in too many photos and others in too few: it takes desks for monitors,
// and of people it knows the faces. Where those photos are tagged, that can be seen without a mask, and mended: one
// number a class, added to its scores, with which the class is found in as many photos as are tagged with it
// (matching of priors, Saerens et al., 2002; distribution alignment, Berthelot et al., 2020).
struct TagMatch {
  std::vector<double> offsets;                  // one a class, at most kMostOffset either way; the background's is 0
  std::vector<int64_t> tagged, found, matched;  // photos with the tag; in which it is found without, and with offsets
};

inline constexpr double kMostOffset = 2;

// What a network says of one photo, small: log-probabilities [K, at most kSmall, at most kSmall]. A class is found
// where it is the likeliest in a single cell: objects may be tiny.
struct SeenPhoto {
  torch::Tensor scores;
  std::vector<int> tags;
};
inline constexpr int64_t kSmall = 48;

SeenPhoto seen(const torch::Tensor& probabilities, const std::vector<int>& tags);  // [K, h, w]

// Offsets for these photos. A class that no photo is tagged with keeps 0: nothing is known of it.
TagMatch match(const std::vector<SeenPhoto>& photos, int64_t classes);

// The same for a network, by single passes over `count` of the samples, evenly spread over them; 0: all.
TagMatch match_tags(model::Segmenter network, const std::vector<data::Sample>& samples, size_t count,
                    torch::Device device, torch::ScalarType dtype, int workers, int64_t batch);

// The same network with `offsets` added to its scores, and to the offsets it has.
model::Segmenter shifted(const model::Segmenter& network, const std::vector<double>& offsets);

}  // namespace crisp::train
