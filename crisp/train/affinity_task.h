#pragma once

#include "crisp/data/dataset.h"
#include "crisp/data/seed_folder.h"
#include "crisp/model/affinity_net.h"
#include "crisp/train/task.h"

namespace crisp::train {

struct AffinityOptions {
  bool train_encoder = false;  // else the classifier's encoder stays as it is
  double encoder_rate = 6e-5, head_rate = 1e-3;
  double weight_decay = 0.01;
  int64_t batch = 8;
  int workers = 2;
  uint64_t seed = 0;
  data::AugmentOptions augment;
};

// Learns which nearby pixels belong together, from labels that are confident or 255 (AffinityNet):
//   a_ij = exp(-mean_c |f_i - f_j|) for pairs within radius 5 at stride 8,
//   loss = 1/4 mean_same-background(-log a) + 1/4 mean_same-object(-log a) + 1/2 mean_different(-log(1 - a)).
class AffinityTask : public Task {
 public:
  AffinityTask(model::AffinityNet network, std::vector<data::Sample> samples, data::SeedFolder labels,
               const AffinityOptions& options, torch::Device device);

  std::string name() const override { return "affinity"; }
  torch::nn::Module& network() override { return *network_; }
  std::vector<ParameterGroup> groups() override;
  data::Loader& loader() override { return loader_; }
  Losses losses(const std::vector<data::Example>& batch, const Moment& now) override;
  void save(const Path& file) override { model::save_affinity_net(file, network_); }

 private:
  model::AffinityNet network_;
  const std::vector<data::Sample> samples_;
  const data::SeedFolder labels_;
  const AffinityOptions options_;
  const torch::Device device_;
  data::Loader loader_;
};

// The loss from features [N, C, h, w] and confident labels [N, h, w] (uint8, 255 unknown), with its three parts.
Losses affinity_loss(const torch::Tensor& features, const torch::Tensor& labels, int radius = 5);

}  // namespace crisp::train
