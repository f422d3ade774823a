#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisp/flow/seeds.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/flow/train_student.h"
#include "crisp/recipe/recipe.h"

namespace crisp::flow {

// `crispformer run`: from photos and tags to a model, its masks and a report.
struct PipelineOptions {
  Path data, out;
  recipe::Recipe recipe;
  std::string split = "train", val = "auto", tags_from = "auto", tags;
  ClassifierOptions classifier;
  SeedsOptions seeds;
  StudentOptions student;
  FeatureOptions features;     // of a frozen encoder, for all stages; by default in OUT/features
  bool drop_features = false;  // remove them once everything is done
  std::string command, config;
  uint64_t seed = 0;
  int threads = 2;
};

// Settles the recipe by the photos and the device, and brings it and what the stages share (data, split, seeds,
// threads, folders) to their options.
void fill_pipeline(PipelineOptions& options, torch::Device device);

struct PipelineResult {
  bool complete = false;
  Path model, masks, report;
  std::string val;  // the split that was held out
};

// classify, seeds, train with relabelling, evaluate, predict, report. A stage whose output is there with the same
// configuration is left as it is; a changed one is made again, and so is all that follows it. Not complete when
// `stop` ended it early.
PipelineResult run_pipeline(const PipelineOptions& options, torch::Device device, const std::function<bool()>& stop);

}  // namespace crisp::flow
