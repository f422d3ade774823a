#pragma once

#include "crisp/base/files.h"
#include "crisp/model/cam_classifier.h"

namespace crisp::model {

// Features whose likeness says whether two nearby pixels belong together (AffinityNet, Ahn and Kwak, 2018): C2, C3
// and C4 of the classifier's encoder, each through a 1x1 convolution, brought to stride 8, joined by another.
struct AffinityHeadImpl : torch::nn::Module {
  explicit AffinityHeadImpl(const EncoderConfig& encoder);
  torch::Tensor forward(const Features& features);  // -> [N, 448, ceil(H/8), ceil(W/8)]

  torch::nn::ModuleList project;
  Conv join{nullptr};
};
TORCH_MODULE(AffinityHead);

// The classifier's encoder with that head.
struct AffinityNetImpl : torch::nn::Module {
  explicit AffinityNetImpl(const EncoderConfig& encoder);
  torch::Tensor forward(const torch::Tensor& images, const torch::Tensor& tokens = {}) {
    return head->forward(encoder->forward(images, tokens));
  }

  const EncoderConfig config;
  std::shared_ptr<EncoderImpl> encoder;
  AffinityHead head{nullptr};
};
TORCH_MODULE(AffinityNet);

// A fresh head on a copy of the classifier's encoder.
AffinityNet make_affinity_net(const CamClassifier& classifier);

AffinityNet load_affinity_net(const Path& file_or_run);
void save_affinity_net(const Path& path, const AffinityNet& network);

}  // namespace crisp::model
