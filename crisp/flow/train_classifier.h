#pragma once

#include <functional>

#include "crisp/data/dataset.h"
#include "crisp/flow/features.h"
#include "crisp/model/cam_classifier.h"
#include "crisp/train/classify_task.h"
#include "crisp/train/trainer.h"

namespace crisp::flow {

struct ClassifierOptions {
  Path data, out;
  std::string split = "train", val = "auto";  // auto: the split val, where it has tags; none
  std::string tags_from = "auto";
  std::string tags;  // the field's cls_labels*.npy instead of the data set's own tags
  std::string arch = "mit_b0", init;
  std::string pooling = "average";
  double top_share = 0.2;
  int64_t stride = 16;  // pixels a cell of the maps
  double drop_path = 0.1;
  train::ClassifyOptions task;
  train::TrainerOptions trainer;
  FeatureOptions features;      // of a frozen encoder
  std::string command, config;  // kept in the run folder
  bool resume = false;
};

// What measurement speaks for on this encoder; nothing on MiT.
void apply_arch(const std::string& arch, ClassifierOptions& options);

// A data set as `options` name it, with tags in the split.
data::Dataset open_tagged(const Path& data, const std::string& split, const std::string& tags_from,
                          const std::string& tags_file, uint64_t seed, int threads);

// The median of the photos' long sides, by a sample; 320 where none can be read.
int typical_side(const std::vector<data::Sample>& samples);

// Crop for photos of this long side: 320 up to 400 pixels (less for smaller photos), 448 above.
int crop_for(int typical_side);
int default_crop(const std::vector<data::Sample>& samples);  // by the median of a sample

// Stage A's first half: learns tags into a run folder. False when `stop` ended it early; everything is saved then.
bool train_classifier(const ClassifierOptions& options, torch::Device device, const std::function<bool()>& stop);

}  // namespace crisp::flow
