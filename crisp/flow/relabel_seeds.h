#pragma once

#include "crisp/flow/features.h"
#include "crisp/train/relabel.h"

namespace crisp::flow {

struct RelabelSeedsOptions {
  Path data;
  std::string split = "train", tags_from = "auto", tags;
  Path model, seeds, out;
  torch::ScalarType dtype = torch::kFloat;
  train::RelabelOptions relabel;
  FeatureOptions features;  // of a frozen encoder
  int workers = 0;
  int64_t batch = 4;
  uint64_t seed = 0;
  std::string command;
};

// A finished model's labels, as a new seed folder: what a next student learns from. Of photos that have labels in
// `seeds`, or where that is empty of all.
train::RelabelReport relabel_seeds(const RelabelSeedsOptions& options, torch::Device device);

}  // namespace crisp::flow
