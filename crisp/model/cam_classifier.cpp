#include "crisp/model/cam_classifier.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/model/load.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/json_text.h"

namespace crisp::model {
namespace {

constexpr const char* kHead = "tags";  // the word for this kind of network in model files

}  // namespace

std::string name_of(Pooling pooling) {
  return pooling == Pooling::kAverage ? "average" : pooling == Pooling::kMaximum ? "max" : "top";
}

Pooling parse_pooling(const std::string& name) {
  for (const Pooling pooling : {Pooling::kAverage, Pooling::kMaximum, Pooling::kTopCells}) {
    if (name_of(pooling) == name) return pooling;
  }
  throw UsageError("--pooling {}: it is one of average, max, top", name);
}

EncoderConfig classifier_encoder(const std::string& arch) {
  EncoderConfig config = encoder_config(arch);
  config.strides[3] = 1;
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
  // The share of the photo in each cell; a cell that is mostly padding cannot be anybody's best.
  const torch::Tensor share = photo.defined()
                                  ? torch::adaptive_avg_pool2d(photo.to(torch::kFloat), {maps.size(2), maps.size(3)})
                                  : torch::ones({maps.size(0), 1, maps.size(2), maps.size(3)}, maps.options());
  if (config.pooling == Pooling::kAverage) {
    return (maps * share).sum({2, 3}) / share.sum({2, 3}).clamp_min(1e-6);
  }
  const torch::Tensor padding = share < 0.5 * share.amax({2, 3}, true);  // a tiny photo fills no cell
  const torch::Tensor cells = maps.masked_fill(padding, -1e4).flatten(2);
  if (config.pooling == Pooling::kMaximum) return cells.amax(2);
  const auto count = std::max<int64_t>(1, static_cast<int64_t>(config.top_share * static_cast<double>(cells.size(2))));
  const torch::Tensor best = std::get<0>(cells.topk(count, 2));
  const torch::Tensor real = best > -5e3;  // a small photo on a large crop may have fewer cells than asked for
  return (best * real).sum(2) / real.sum(2).clamp_min(1);
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
    config.encoder.strides[3] = options.at("last_stride").get<int64_t>();
    config.pooling = parse_pooling(options.at("pooling").get<std::string>());
    config.top_share = options.at("top_share").get<double>();
  } catch (const nlohmann::json::exception& problem) {
    throw Error("{}: the classifier's options cannot be read: {}", source, problem.what());
  }
  if (config.encoder.strides[3] < 1 || config.encoder.strides[3] > 2) {
    throw Error("{}: last_stride {} of the classifier is neither 1 nor 2", source, config.encoder.strides[3]);
  }
  config.classes = checkpoint.classes;
  CamClassifier network(config);
  tensor::load_into(*network, checkpoint.tensors, source);
  network->eval();
  return network;
}

void save_classifier(const Path& path, const CamClassifier& network) {
  const CamClassifierConfig& config = network->config;
  const nlohmann::json options = {{"last_stride", config.encoder.strides[3]},
                                  {"pooling", name_of(config.pooling)},
                                  {"top_share", config.top_share}};
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
