#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "crisp/data/seed_folder.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/seed/make_seeds.h"
#include "crisp/train/affinity_task.h"
#include "crisp/train/crossfit.h"

namespace crisp::flow {

struct SeedsOptions {
  Path data, out;
  std::vector<Path> classifiers;  // their maps are averaged; the affinity network has the first one's encoder
  std::string split = "train", tags_from = "auto", tags;
  seed::CamOptions cam;
  FeatureOptions features;  // of a frozen encoder
  seed::SeedOptions seed;
  std::optional<seed::Background> background;  // nothing: what the classifier's encoder wants
  // Rounds in which labels of all other photos judge each photo (seed/crossfit.h), on a frozen ViT; nothing: one there.
  std::optional<int> crossfit;
  train::CrossfitOptions crossfit_training;
  std::string crf = ops::kDefaultCrf;  // the preset's name, for the record
  Path affinity;                       // a trained affinity network; empty: one is learned in OUT/affinity when needed
  train::AffinityOptions affinity_task;
  train::TrainerOptions affinity_trainer;
  torch::ScalarType dtype = torch::kFloat;
  std::string command;
  uint64_t random_seed = 0;
};

std::vector<model::CamClassifier> load_classifiers(const std::vector<Path>& files);

// The maps of the options' classifiers, for a stage that writes `out`.
seed::CamMaker open_cams(const SeedsOptions& options, const Path& out, torch::Device device);

// The same options with what they leave to the classifier's encoder filled in.
SeedsOptions settled(const SeedsOptions& options, const model::EncoderConfig& encoder);

// The parameters that decide the labels, as the JSON object of seeds.json.
nlohmann::ordered_json crf_json(const std::string& preset, const ops::CrfOptions& crf);
std::string options_json(const SeedsOptions& options);

// Stage A's second half: from a classifier and tags to a seed folder; learns the affinity network first where the
// chain wants one. Goes on where it was stopped. Nothing is returned when `stop` ended it early.
std::optional<data::SeedFacts> make_seed_folder(const SeedsOptions& options, torch::Device device,
                                                const std::function<bool()>& stop);

// What another background would give: mIoU on photos with masks. It looks at masks and writes nothing.
struct SweepPoint {
  seed::Background background;
  double miou = 0, foreground_share = 0;  // percent
};
struct Sweep {
  std::vector<SweepPoint> points;
  int64_t images = 0;  // how many were looked at
};
Sweep sweep_background(const SeedsOptions& options, int64_t most_images, torch::Device device);

}  // namespace crisp::flow
