#include "crisp/model/cam_classifier.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/model/load.h"
#include "crisp/model/presence.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/json_text.h"

namespace crisp::model {
namespace {

constexpr const char* kHead = "tags";  // the word for this kind of network in model files

// Masks m = softmax over the classes and a background whose score is 1; the score of a class is the mean of its map
// weighted by its mask, and a term that asks for masks of some size but is content with any: with a the mask's share
// of the photo, (1 - a)^3 log(0.01 + a).
torch::Tensor weighted_scores(const torch::Tensor& maps, const torch::Tensor& share) {
  const torch::Tensor background = torch::ones({maps.size(0), 1, maps.size(2), maps.size(3)}, maps.options());
  const torch::Tensor masks = torch::cat({background, maps}, 1).softmax(1).narrow(1, 1, maps.size(1)) * share;
  const torch::Tensor area = masks.sum({2, 3}) / share.sum({2, 3}).clamp_min(1e-6);
  const torch::Tensor score = (masks * maps).sum({2, 3}) / masks.sum({2, 3}).add(1);
  return score + (1 - area).pow(3) * (0.01 + area).log();
}

}  // namespace

std::string name_of(Pooling pooling) {
  switch (pooling) {
    case Pooling::kAverage:
      return "average";
    case Pooling::kMaximum:
      return "max";
    case Pooling::kTopCells:
      return "top";
    case Pooling::kWeighted:
      return "weighted";
  }
  return "";
}

Pooling parse_pooling(const std::string& name) {
  for (const Pooling pooling : {Pooling::kAverage, Pooling::kMaximum, Pooling::kTopCells, Pooling::kWeighted}) {
    if (name_of(pooling) == name) return pooling;
  }
  throw UsageError("--pooling {}: it is one of average, max, top, weighted", name);
}

void set_map_stride(EncoderConfig& config, int64_t stride) {
  if (stride != 8 && stride != 16 && stride != 32) throw UsageError("map stride {}: it is 8, 16 or 32", stride);
  config.strides[2] = stride == 8 ? 1 : 2;
  config.strides[3] = stride == 32 ? 2 : 1;
}

int64_t map_stride(const EncoderConfig& config) {
  return config.strides[0] * config.strides[1] * config.strides[2] * config.strides[3];
}

EncoderConfig classifier_encoder(const std::string& arch, int64_t stride) {
  EncoderConfig config = encoder_config(arch);
  set_map_stride(config, stride);
  return config;
}

CamClassifierImpl::CamClassifierImpl(const CamClassifierConfig& config_) : config(config_) {
  encoder = register_module("encoder", Mit(config.encoder));
  classifier = register_module("classifier", Conv(ConvShape{.in = config.encoder.dims[3],
                                                            .out = static_cast<int64_t>(config.classes.size()) - 1,
                                                            .bias = false}));
}

torch::Tensor CamClassifierImpl::maps(const torch::Tensor& images) {
  return classifier->forward(encoder->forward(images)[3]);
}

torch::Tensor CamClassifierImpl::pool(const torch::Tensor& scores, const torch::Tensor& photo) const {
  const torch::Tensor maps = scores.to(torch::kFloat);  // sums over cells
  const torch::Tensor share = photo_share(photo, maps);
  if (config.pooling == Pooling::kAverage) {
    return (maps * share).sum({2, 3}) / share.sum({2, 3}).clamp_min(1e-6);
  }
  if (config.pooling == Pooling::kWeighted) return weighted_scores(maps, share);
  return mean_of_best(maps, share, config.pooling == Pooling::kMaximum ? 0 : config.top_share);
}

torch::Tensor CamClassifierImpl::forward(const torch::Tensor& images, const torch::Tensor& photo) {
  return pool(maps(images), photo);
}

CamClassifier load_classifier(const Path& file_or_run) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(model_inside(file_or_run));
  const std::string source = checkpoint.file.string();
  if (checkpoint.head != kHead) {
    throw Error("{}: this is no tag classifier ({}); `crispformer classify` makes one", source, checkpoint.description);
  }
  const nlohmann::json options = tensor::parse_json(checkpoint.options, source + ": 'options'");
  CamClassifierConfig config;
  try {
    config.encoder = encoder_shape_of(checkpoint);
    set_map_stride(config.encoder, options.at("stride").get<int64_t>());
    config.pooling = parse_pooling(options.at("pooling").get<std::string>());
    config.top_share = options.at("top_share").get<double>();
  } catch (const std::exception& problem) {
    throw Error("{}: the classifier's options cannot be read: {}", source, problem.what());
  }
  config.classes = checkpoint.classes;
  CamClassifier network(config);
  tensor::load_into(*network, checkpoint.tensors, source);
  network->eval();
  return network;
}

void save_classifier(const Path& path, const CamClassifier& network) {
  const CamClassifierConfig& config = network->config;
  const nlohmann::json options = {
      {"stride", map_stride(config.encoder)}, {"pooling", name_of(config.pooling)}, {"top_share", config.top_share}};
  const tensor::ModelMeta meta{.arch = config.encoder.arch,
                               .head = kHead,
                               .width = 0,
                               .classes = config.classes,
                               .layer_norm_eps = config.encoder.layer_norm_eps,
                               .options = options.dump(),
                               .extra = {}};
  tensor::write_model_file(path, tensor::state_of(*network), meta);
}

}  // namespace crisp::model
