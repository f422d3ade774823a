#pragma once

#include <limits>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/tensor/torch.h"

namespace crisp::flow {

struct RecogniseOptions {
  Path data;
  std::string split = "train", tags_from = "auto", tags;
  Path model, out;
  Path recogniser;  // weights of an EfficientNet-Lite; empty: the shipped ones
  int workers = 0;
  int64_t batch = 4;
  uint64_t seed = 0;
};

struct RecogniseReport {
  ClassNames classes;
  std::vector<size_t> tagged;  // photos, by class
  std::vector<double>
      precision;  // average precision of each class on every tenth photo, learned from the others; NaN: none has it
  double mean_precision = std::numeric_limits<double>::quiet_NaN();  // of those that have one; NaN: none
  size_t photos = 0, kept_aside = 0;
};

// A finished model with a recogniser (model/recogniser.h) learned from the tags of photos, as a new model file of the
// same precision. A model that has one gets a new one.
RecogniseReport recognise_model(const RecogniseOptions& options, torch::Device device);

}  // namespace crisp::flow
