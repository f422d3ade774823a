#include "crisp/model/cam_classifier.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/model/best_cells.h"
#include "crisp/model/foundation.h"
#include "crisp/model/load.h"
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
    case Pooling::kBoth:
      return "both";
  }
  return "";
}

Pooling parse_pooling(const std::string& name) {
  for (const Pooling pooling :
       {Pooling::kAverage, Pooling::kMaximum, Pooling::kTopCells, Pooling::kWeighted, Pooling::kBoth}) {
    if (name_of(pooling) == name) return pooling;
  }
  throw UsageError("--pooling {}: it is one of average, max, top, weighted, both", name);
}

void set_map_stride(EncoderConfig& config, int64_t stride) {
  if (stride != 8 && stride != 16 && stride != 32) throw UsageError("map stride {}: it is 8, 16 or 32", stride);
  config.strides[2] = stride == 8 ? 1 : 2;
  config.strides[3] = stride == 32 ? 2 : 1;
}

int64_t map_stride(const EncoderConfig& config) {
  if (config.vit) return config.vit->patch;
  return config.strides[0] * config.strides[1] * config.strides[2] * config.strides[3];
}

EncoderConfig classifier_encoder(const std::string& arch, int64_t stride) {
  EncoderConfig config = encoder_config(arch);
  if (!config.vit) {
    set_map_stride(config, stride);
    return config;
  }
  VitView view = *config.vit;
  view.detail = 0;
  return encoder_config(arch, view);
}

CamClassifierImpl::CamClassifierImpl(const CamClassifierConfig& config_) : config(config_) {
  encoder = register_module("encoder", make_encoder(config.encoder));
  classifier = register_module("classifier", Conv(ConvShape{.in = config.encoder.dims[3],
                                                            .out = static_cast<int64_t>(config.classes.size()) - 1,
                                                            .bias = config.encoder.vit.has_value()}));
}

void CamClassifierImpl::draw() {
  if (!config.encoder.vit) return;
  classifier->weight.zero_();
  classifier->bias.fill_(-1);
}

torch::Tensor CamClassifierImpl::maps(const torch::Tensor& images, const torch::Tensor& tokens) {
  return classifier->forward(encoder->last(images, tokens));
}

torch::Tensor CamClassifierImpl::pool(const torch::Tensor& scores, const torch::Tensor& photo) const {
  const torch::Tensor maps = scores.to(torch::kFloat);  // sums over cells
  const torch::Tensor share = photo_share(photo, maps);
  const auto average = [&] { return (maps * share).sum({2, 3}) / share.sum({2, 3}).clamp_min(1e-6); };
  switch (config.pooling) {
    case Pooling::kAverage:
      return average();
    case Pooling::kWeighted:
      return weighted_scores(maps, share);
    case Pooling::kMaximum:
      return mean_of_best(maps, share, 0);
    case Pooling::kTopCells:
      return mean_of_best(maps, share, config.top_share);
    case Pooling::kBoth:
      return (mean_of_best(maps, share, config.top_share) + average()) / 2;
  }
  return {};
}

torch::Tensor CamClassifierImpl::forward(const torch::Tensor& images, const torch::Tensor& photo,
                                         const torch::Tensor& tokens) {
  return pool(maps(images, tokens), photo);
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
    if (!config.encoder.vit) set_map_stride(config.encoder, options.at("stride").get<int64_t>());
    config.pooling = parse_pooling(options.at("pooling").get<std::string>());
    config.top_share = options.at("top_share").get<double>();
  } catch (const std::exception& problem) {
    throw Error("{}: the classifier's options cannot be read: {}", source, problem.what());
  }
  config.classes = checkpoint.classes;
  CamClassifier network(config);
  tensor::load_into(*network, checkpoint.tensors, source);
  find_foundation(checkpoint, *network->encoder);
  network->eval();
  return network;
}

void save_classifier(const Path& path, const CamClassifier& network) {
  const CamClassifierConfig& config = network->config;
  const nlohmann::json options = {
      {"stride", map_stride(config.encoder)}, {"pooling", name_of(config.pooling)}, {"top_share", config.top_share}};
  tensor::Metadata facts;
  describe_foundation(*network->encoder, facts);
  const tensor::ModelMeta meta{.arch = config.encoder.arch,
                               .head = kHead,
                               .width = 0,
                               .classes = config.classes,
                               .layer_norm_eps = config.encoder.layer_norm_eps,
                               .options = options.dump(),
                               .extra = facts};
  tensor::write_model_file(path, tensor::state_of(*network), meta);
}

}  // namespace crisp::model
