#pragma once

#include <memory>
#include <optional>

#include "crisp/data/dataset.h"
#include "crisp/data/seed_folder.h"
#include "crisp/loss/valid.h"
#include "crisp/model/segmenter.h"
#include "crisp/train/relabel.h"
#include "crisp/train/round_check.h"
#include "crisp/train/student.h"
#include "crisp/train/task.h"

namespace crisp::train {

struct SegmentOptions {
  double encoder_rate = 6e-5, head_rate = 6e-4;
  double weight_decay = 0.01;
  int64_t batch = 16;
  int workers = 2;
  uint64_t seed = 0;
  data::AugmentOptions augment;
  loss::Options loss;
  int band_width = 2;
  // A network on a frozen ViT sees whole photos as squares, at random mirrored; the losses see labels of this side.
  int label_side = 128;
  Phases phases;
  RelabelOptions relabel;
  torch::ScalarType amp = torch::kFloat;  // of relabelling and validation
  int64_t infer_batch = 4;
  bool select_on_masks = false;  // keep the teacher with the best validation mIoU, not the last
};

// What the student sees: photos, and labels out of a seed folder or, for the fully supervised bound, masks.
struct SegmentData {
  const data::Dataset* dataset = nullptr;
  std::vector<data::Sample> train, val;
  std::string val_split;
  std::optional<data::SeedFolder> seeds;  // nothing: the masks themselves
  bool val_has_masks = false;             // else validation is against held-out seeds
  std::shared_ptr<feature::Store> store;  // of a network on a frozen encoder; else null
};

// Stages B and C: a CrispFormer learned from uncertain labels, with an EMA teacher that relabels.
class SegmentTask : public Task {
 public:
  SegmentTask(model::Segmenter student, model::Segmenter teacher, SegmentData data, const SegmentOptions& options,
              torch::Device device, Path run);

  std::string name() const override { return "segment"; }
  torch::nn::Module& network() override { return *student_; }
  torch::nn::Module* teacher() override { return teacher_.get(); }
  std::vector<ParameterGroup> groups() override;
  data::Loader& loader() override { return *loader_; }
  Numbers prepare(const Moment& now) override;
  Losses losses(const std::vector<data::Example>& batch, const Moment& now) override;
  Numbers validate(const Moment& now) override;
  tensor::Metadata state() const override;
  void restore(const tensor::Metadata& facts) override;
  void save(const Path& file) override;

  // "last step", or what the model was chosen by: every output names it.
  std::string selected_by() const;

  // What each round of relabelling gave, in order, with the step it happened at.
  const std::vector<std::pair<int64_t, RelabelReport>>& rounds() const { return rounds_; }

 private:
  data::Example make_example(size_t index, Rng& rng) const;
  data::Example on_square(data::Example example, const data::Sample& sample, Rng& rng) const;
  data::Seed labels_of(const data::Sample& sample) const;
  int64_t relabel_round(const Moment& now) const;  // rounds due up to this step
  const std::vector<data::Sample>& by_size();
  Numbers relabel_now(const Moment& now, int64_t round);
  Numbers judge_round(const Moment& now);
  MasklessScore maskless_score();
  void use_labels(const std::string& relabelled);  // a folder below the run; empty: the seeds
  Path best_file() const { return run_ / "best.safetensors"; }
  void keep_if_best(double miou, const Moment& now) const;
  tensor::Metadata origin() const;  // for the model file: what it was learned from and chosen by

  model::Segmenter student_, teacher_;
  const SegmentData data_;
  const SegmentOptions options_;
  const torch::Device device_;
  const Path run_;
  // What the loader's threads read; changed only while the loader is drained.
  std::optional<data::SeedFolder> labels_;
  loss::DropOptions drop_;
  int64_t round_ = 0;                // the last round tried
  std::string relabelled_;           // the folder in use below the run, empty: the seeds
  std::optional<RoundTrial> trial_;  // of the last round, until it is judged
  std::vector<std::pair<int64_t, RelabelReport>> rounds_;
  std::vector<data::Sample> by_size_;     // what is learned from, in the order of relabelling
  std::unique_ptr<data::Loader> loader_;  // last: its threads end first
};

}  // namespace crisp::train
