#pragma once

#include <functional>

#include "crisp/flow/features.h"
#include "crisp/train/segment_task.h"
#include "crisp/train/trainer.h"

namespace crisp::flow {

struct StudentOptions {
  Path data, seeds, out;
  std::string split = "train", val = "auto", tags_from = "auto", tags;
  std::string labels = "seeds";  // or masks: the fully supervised upper bound
  std::string arch = "mit_b0", init;
  std::string ablation = "A6", uncertainty = "U4";
  int64_t width = 0;  // of the head; 0: the architecture's
  int64_t hidden = 64;
  bool modulation_minmax = false, weighting_minmax = false;
  int64_t fine = 2;  // on a ViT: cells of the network's grid along a token's side
  double dropout = 0.1, drop_path = 0.1, temperature = 1;
  double zoom = 1;  // photos are enlarged by this, in training and ever after; the augmentation's scales multiply it
  std::string fusion = "dmf", modulation = "per_scale";
  bool boundary_on_e1 = false;
  int64_t propagate = 0;
  bool no_relabel = false;
  std::string relabel_refine = "none";  // crf, par: refinement of the teacher's labels
  std::string select = "last";          // or masks: the best by a score on masks, named in every output
  train::SegmentOptions task;
  train::TrainerOptions trainer;
  FeatureOptions features;  // of a frozen encoder
  std::string command, config;
  bool resume = false;
};

// Learning rates, weight decay and decay of a preset: "segformer" or "paper".
void apply_preset(const std::string& name, StudentOptions& options);

// What measurement speaks for on this encoder (docs/method.md); nothing on MiT.
void apply_arch(const std::string& arch, StudentOptions& options);

// The network that these options describe.
model::SegmenterConfig segmenter_config(const StudentOptions& options, const ClassNames& classes);

// The crop of enlarged photos: it grows by half as much, so that steps stay affordable.
int zoomed_crop(int crop, double zoom);

struct StudentReport {
  bool complete = false;
  std::vector<std::pair<int64_t, train::RelabelReport>> rounds;
  train::Numbers validation;
};

// Stages B and C: a student from a seed folder (or masks) into a run folder. Not complete when `stop` ended it early.
StudentReport train_student(const StudentOptions& options, torch::Device device, const std::function<bool()>& stop);

}  // namespace crisp::flow
