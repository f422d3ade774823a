#pragma once

#include <span>
#include <string>

#include "crisp/image/image.h"
#include "crisp/metric/options.h"
#include "crisp/metric/scores.h"

namespace crisp::metric {

// How sure a prediction was; leave empty what is not known. Borrowed, not copied.
struct Certainty {
  std::span<const float> confidence;     // [H, W] probability of the predicted label, 0..1
  std::span<const float> probabilities;  // [K, H, W]; also gives the confidence when that is empty
};

// Fills the reliability bins of `scores`, and its Brier and NLL sums when full probabilities are there. Only
// pixels whose truth is scored count; for the bins those with a predicted class. Values that are no
// probability (NaN, under 0, over 1) or buffers of another size are Errors that name `name`.
void score_certainty(const std::string& name, const image::Mask& truth, const image::Mask& prediction,
                     const Certainty& certainty, const Options& options, ImageScores& scores);

}  // namespace crisp::metric
