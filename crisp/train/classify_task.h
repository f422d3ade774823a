#pragma once

#include "crisp/data/dataset.h"
#include "crisp/feature/store.h"
#include "crisp/model/cam_classifier.h"
#include "crisp/train/task.h"

namespace crisp::train {

struct ClassifyOptions {
  double encoder_rate = 5e-4, head_rate = 5e-3;  // for short runs; 6e-5 and 6e-4 for long ones. 0: the encoder stays
  double weight_decay = 0.01;
  bool freeze_norms = false;
  double mosaic = 0;  // share of the steps whose photos stand four to a picture (mosaic.h)
  int64_t batch = 16;
  int workers = 2;
  uint64_t seed = 0;
  data::AugmentOptions augment;
};

// Learns tags: multi-label soft margin loss, mean over classes and photos,
//   -y log s(x) - (1 - y) log(1 - s(x)),  s the logistic function, y whether the photo has the tag.
class ClassifyTask : public Task {
 public:
  // `train` holds tagged samples alone; `val` may be empty. `store`: of a network on a frozen encoder, which learns
  // from what that says of whole photos; else null.
  ClassifyTask(model::CamClassifier network, std::vector<data::Sample> train, std::vector<data::Sample> val,
               const ClassifyOptions& options, torch::Device device, std::shared_ptr<feature::Store> store = nullptr);

  std::string name() const override { return "classify"; }
  torch::nn::Module& network() override { return *network_; }
  std::vector<ParameterGroup> groups() override;
  data::Loader& loader() override { return loader_; }
  Losses losses(const std::vector<data::Example>& batch, const Moment& now) override;
  Numbers validate(const Moment& now) override;
  void save(const Path& file) override { model::save_classifier(file, network_); }

 private:
  data::Example make_example(size_t index, Rng& rng) const;
  torch::Tensor maps(const torch::Tensor& images);

  model::CamClassifier network_;
  const std::vector<data::Sample> train_, val_;
  const ClassifyOptions options_;
  const torch::Device device_;
  const std::shared_ptr<feature::Store> store_;
  data::Loader loader_;
};

}  // namespace crisp::train
