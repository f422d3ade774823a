#pragma once

#include "crisp/base/files.h"
#include "crisp/train/class_match.h"

namespace crisp::flow {

struct CalibrateOptions {
  Path data;
  std::string split = "train", tags_from = "auto", tags;
  Path model, out;
  Path sizes;            // how much of their photos classes fill (data/class_sizes.h); empty: they are matched to tags
  size_t photos = 2000;  // looked at; 0: all
  torch::ScalarType dtype = torch::kFloat;
  int workers = 0;
  int64_t batch = 4;
  uint64_t seed = 0;
};

struct CalibrateReport {
  train::ClassMatch match;
  ClassNames classes;
};

// A finished model with class offsets matched to the tags of photos, or to sizes, as a new model file of the same
// precision.
CalibrateReport calibrate_model(const CalibrateOptions& options, torch::Device device);

}  // namespace crisp::flow
