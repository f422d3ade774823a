#include "crisp/model/segformer_head.h"

#include <array>

#include "crisp/model/layers.h"
#include "crisp/ops/weighted_upsample.h"

namespace crisp::model {

torch::Tensor channel_dropout(const torch::Tensor& map, double probability, bool active) {
  if (!active || probability <= 0) return {};
  const torch::Tensor keep = torch::empty({map.size(0), map.size(1), 1, 1}, map.options());
  return keep.bernoulli_(1 - probability).div_(1 - probability);
}

std::vector<double> without_background(int64_t classes) {
  std::vector<double> offsets(static_cast<size_t>(classes));
  offsets[0] = -1e4;  // which fp16 holds
  return offsets;
}

torch::Tensor with_offsets(const torch::Tensor& scores, const std::vector<double>& offsets) {
  if (offsets.empty()) return scores;
  return scores + torch::tensor(offsets, torch::kFloat).to(scores.options()).view({1, -1, 1, 1});
}

SegformerHeadImpl::SegformerHeadImpl(const EncoderConfig& encoder, const HeadConfig& head)
    : dropout(head.dropout), offsets(head.offsets) {
  proj = register_module("proj", torch::nn::ModuleList());
  for (const int64_t dim : encoder.dims) proj->push_back(Linear(dim, head.width));
  fuse = register_module("fuse", Conv(ConvShape{.in = 4 * head.width, .out = head.width, .bias = false}));
  norm = register_module("norm", torch::nn::BatchNorm2d(head.width));
  classifier = register_module("classifier", Conv(ConvShape{.in = head.width, .out = head.classes}));
}

Prediction SegformerHeadImpl::forward(const Features& features, const ForwardOptions& options) {
  const int64_t width = fuse->weight.size(0);
  const bool fold = !is_training() && !torch::GradMode::is_enabled();
  const torch::Tensor scale =
      fold ? norm->weight * torch::rsqrt(norm->running_var + norm->options.eps()) : torch::Tensor();

  std::array<torch::Tensor, 4> weights, maps;
  torch::Tensor bias;
  for (size_t i = 0; i < 4; ++i) {
    const auto* layer = proj[i]->as<Linear>();
    torch::Tensor block = fuse->weight.view({width, 4 * width}).narrow(1, static_cast<int64_t>(3 - i) * width, width);
    if (fold) block = block * scale.unsqueeze(1);
    weights[i] = torch::matmul(block, layer->weight);
    const torch::Tensor part = torch::matmul(block, layer->bias);
    bias = bias.defined() ? bias + part : part;
  }
  if (fold) bias = bias + norm->bias - norm->running_mean * scale;
  // A constant upsamples to itself, so the whole bias rides on the finest map.
  for (size_t i = 0; i < 4; ++i) maps[i] = pointwise(features[i], weights[i], i == 0 ? bias : torch::Tensor());

  torch::Tensor fused = ops::weighted_upsample(maps, {}, /*relu=*/fold);
  if (!fold) fused = norm->forward(fused).relu();
  const torch::Tensor mask = channel_dropout(fused, dropout, is_training() || options.sample_dropout);
  if (mask.defined()) fused = fused * mask;

  Prediction prediction;
  prediction.fused = fused;
  prediction.logits = classifier->forward(fused);
  prediction.refined = with_offsets(prediction.logits, offsets);
  return prediction;
}

}  // namespace crisp::model
