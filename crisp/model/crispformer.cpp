#include "crisp/model/crispformer.h"

#include <cmath>

#include "crisp/ops/weighted_upsample.h"

namespace crisp::model {
namespace {

constexpr double kStartAlpha = 0.1;

// Entropy of softmax(Z) over log K, in [0, 1]: the stand-in for U without a variance head.
torch::Tensor relative_entropy(const torch::Tensor& logits) {
  const torch::Tensor log_p = torch::log_softmax(logits.to(torch::kFloat), 1);
  return -(log_p.exp() * log_p).sum(1, true) / std::log(static_cast<double>(logits.size(1)));
}

// Per-image min-max; a flat map counts as 0.
torch::Tensor min_max(const torch::Tensor& u) {
  const torch::Tensor low = u.amin({1, 2, 3}, true), range = u.amax({1, 2, 3}, true) - low;
  return torch::where(range > 0, (u - low) / range.clamp_min(1e-12), torch::zeros_like(u));
}

}  // namespace

CrispformerHeadImpl::CrispformerHeadImpl(const EncoderConfig& encoder, const HeadConfig& head) : config(head) {
  project = register_module("project", torch::nn::ModuleList());
  for (const int64_t dim : encoder.dims) project->push_back(ConvNorm(dim, head.width, 1));
  if (head.fusion == Fusion::kDmf) {
    score = register_module("score", torch::nn::ModuleList());
    for (int i = 0; i < 4; ++i) score->push_back(Conv(ConvShape{.in = head.width, .out = 1}));
    if (head.modulation != Modulation::kOff) {
      const int64_t count = head.modulation == Modulation::kLiteral ? 1 : 4;
      modulation = register_parameter("modulation", torch::empty({count}));
    }
  } else if (head.fusion == Fusion::kConcat) {
    concat = register_module("concat", ConvNorm(4 * head.width, head.width, 1));
  }
  if (head.variance) variance = register_module("variance", VarianceHead(head.width, head.hidden, head.classes));
  classifier = register_module("classifier", Conv(ConvShape{.in = head.width, .out = head.classes}));
  if (head.refine) refine = register_module("refine", Refiner(head.width, head.hidden, head.classes));
  if (head.boundary) boundary = register_module("boundary", SmallHead(head.width, head.hidden, 1));
}

void CrispformerHeadImpl::draw() {
  if (score) {
    for (const auto& layer : *score) layer->as<Conv>()->weight.zero_();
  }
  if (modulation.defined()) modulation.fill_(std::log(std::expm1(kStartAlpha)));
}

torch::Tensor CrispformerHeadImpl::scores(const Maps& maps) {
  const auto size = maps[0].sizes().slice(2);
  std::vector<torch::Tensor> parts;
  for (size_t i = 0; i < 4; ++i) {
    parts.push_back(upsample(score[i]->as<Conv>()->forward(maps[i]), size));
  }
  return torch::cat(parts, 1).to(torch::kFloat) / config.temperature;
}

torch::Tensor CrispformerHeadImpl::fuse(const Maps& maps, const torch::Tensor& weights) {
  if (config.fusion != Fusion::kConcat) return ops::weighted_upsample(maps, weights);
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& map : maps) parts.push_back(upsample(map, maps[0].sizes().slice(2)));
  return concat->forward(torch::cat(parts, 1)).relu();
}

torch::Tensor CrispformerHeadImpl::modulated(const torch::Tensor& plain, const torch::Tensor& uncertainty) const {
  const torch::Tensor u = uncertainty.detach();
  const torch::Tensor squashed = config.modulation_minmax ? min_max(u) : u / (1 + u);
  return plain - torch::softplus(modulation).to(torch::kFloat).view({1, -1, 1, 1}) * squashed / config.temperature;
}

Prediction CrispformerHeadImpl::forward(const Features& features, const ForwardOptions& options) {
  return decide(fuse_all(features), options);
}

void CrispformerHeadImpl::sample(const Features& features, int64_t times,
                                 const std::function<void(const Prediction&)>& take) {
  const Fused plain = fuse_all(features);
  for (int64_t i = 0; i < times; ++i) take(decide(plain, {.sample_dropout = true}));
}

CrispformerHeadImpl::Fused CrispformerHeadImpl::fuse_all(const Features& features) {
  Fused plain;
  Maps& maps = plain.maps;
  for (size_t i = 0; i < 4; ++i) {
    maps[i] = project[i]->as<ConvNorm>()->forward(features[i]).relu_();
  }
  if (config.fusion == Fusion::kDmf) {
    plain.scores = scores(maps);
    plain.weights = torch::softmax(plain.scores, 1);
  } else if (config.fusion == Fusion::kMean) {
    plain.weights = torch::full({maps[0].size(0), 4, maps[0].size(2), maps[0].size(3)}, 0.25,
                                maps[0].options().dtype(torch::kFloat));
  }
  plain.fused = fuse(maps, plain.weights);
  return plain;
}

Prediction CrispformerHeadImpl::decide(const Fused& plain, const ForwardOptions& options) {
  const Maps& maps = plain.maps;
  Prediction result;
  result.scale_weights = plain.weights;
  const torch::Tensor mask = channel_dropout(maps[0], config.dropout, is_training() || options.sample_dropout);
  const auto dropped = [&](const torch::Tensor& fused) { return mask.defined() ? fused * mask : fused; };
  result.fused = dropped(plain.fused);

  if (variance) {
    result.variance = variance->forward(result.fused);
    result.uncertainty = result.variance.mean(1, true);
  }
  const bool modulate = modulation.defined() && options.modulate;
  const auto uncertainty_of = [&](const torch::Tensor& logits) {
    if (config.uncertainty == UncertaintyInput::kVariance && variance) return result.uncertainty;
    if (config.uncertainty == UncertaintyInput::kEntropy) return relative_entropy(logits);
    return torch::zeros({logits.size(0), 1, logits.size(2), logits.size(3)}, logits.options().dtype(torch::kFloat));
  };
  result.logits = !modulate || config.uncertainty == UncertaintyInput::kEntropy ? classifier->forward(result.fused)
                                                                                : torch::Tensor();
  if (modulate) {
    const torch::Tensor like = result.logits.defined() ? result.logits : result.scale_weights;
    result.scale_weights = torch::softmax(modulated(plain.scores, uncertainty_of(like)), 1);
    result.fused = dropped(fuse(maps, result.scale_weights));
    result.logits = classifier->forward(result.fused);
  }
  result.refined = result.logits;
  if (refine) {
    const torch::Tensor u = uncertainty_of(result.logits);
    if (!result.uncertainty.defined()) result.uncertainty = u;
    result.refined = refine->forward(result.fused, result.logits, u, options.detach_refiner, result.gate);
  }
  result.refined = with_offsets(result.refined, config.offsets);
  if (boundary && (options.boundary || is_training())) {
    result.boundary = boundary->forward(config.boundary_on_e1 ? maps[0].relu() : result.fused);
  }
  return result;
}

}  // namespace crisp::model
