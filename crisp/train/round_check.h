#pragma once

#include "crisp/data/dataset.h"
#include "crisp/feature/store.h"
#include "crisp/model/segmenter.h"

namespace crisp::train {

// What can be said of a network without a mask: whether it knows which classes a photo shows, and whether it says the
// same of a photo and of its mirror image.
struct MasklessScore {
  double tags = 0;    // mean average precision of the photos' tags, percent
  double mirror = 0;  // share of cells with the same label in both, percent
};

// By single passes over at most `count` of the tagged samples, evenly spread over them. A class's score for a photo is
// the mean of its best twentieth of cells. Photos that cannot be read are left out.
MasklessScore score_without_masks(model::Segmenter network, const std::vector<data::Sample>& samples, size_t count,
                                  torch::Device device, torch::ScalarType dtype, feature::Store* store = nullptr);

// Lower by more than chance moves it: a point of either.
bool is_lower(const MasklessScore& now, const MasklessScore& before);

// A round of relabelling that is yet to be judged.
struct RoundTrial {
  int64_t due = 0;  // the step it is judged at
  MasklessScore before;
  std::string labels_before;  // where to go back to

  std::string to_text() const;
  static RoundTrial from_text(const std::string& text);
  std::string compared_with(const MasklessScore& after) const;  // in words
};

}  // namespace crisp::train
