#pragma once

#include <functional>
#include <optional>

#include "crisp/data/dataset.h"
#include "crisp/seed/crossfit.h"

namespace crisp::train {

struct CrossfitOptions {
  int64_t steps = 350, batch = 16;  // at most, and no more than 40 passes over a half
  double rate = 1e-3, weight_decay = 1e-2;
  uint64_t seed = 0;
};

// A photo, and its labels on the grid of its tokens: u8 [h, w], 255 not to be learned from.
struct GridLabels {
  const data::Sample* sample = nullptr;
  torch::Tensor labels;
};

// The head of one half of the photos (seed/crossfit.h), learned from their labels: cross-entropy at each token. The
// same bits every time (on the CPU). Nothing when `stop` ended it early.
std::optional<model::TokenHead> learn_half(feature::Store& store, const std::vector<GridLabels>& photos, size_t half,
                                           int64_t classes, const CrossfitOptions& options, torch::Device device,
                                           const std::function<bool()>& stop);

}  // namespace crisp::train
