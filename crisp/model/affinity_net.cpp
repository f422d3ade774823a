#include "crisp/model/affinity_net.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/model/foundation.h"
#include "crisp/model/load.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/json_text.h"

namespace crisp::model {
namespace {

constexpr const char* kHead = "affinity";
constexpr std::array<int64_t, 3> kWidths = {64, 128, 256};  // of what C2, C3, C4 become
constexpr int64_t kJoined = 448;

Conv plain(int64_t in, int64_t out) { return Conv(ConvShape{.in = in, .out = out, .bias = false}); }

}  // namespace

AffinityHeadImpl::AffinityHeadImpl(const EncoderConfig& encoder) {
  project = register_module("project", torch::nn::ModuleList());
  for (size_t i = 0; i < kWidths.size(); ++i) project->push_back(plain(encoder.dims[i + 1], kWidths[i]));
  join = register_module("join", plain(kJoined, kJoined));
}

torch::Tensor AffinityHeadImpl::forward(const Features& features) {
  std::vector<torch::Tensor> maps;
  for (size_t i = 0; i < kWidths.size(); ++i) {
    const torch::Tensor map = torch::elu(project[i]->as<Conv>()->forward(features[i + 1]));
    maps.push_back(upsample(map, features[1].sizes().slice(2)));
  }
  return torch::elu(join->forward(torch::cat(maps, 1)));
}

AffinityNetImpl::AffinityNetImpl(const EncoderConfig& encoder_config) : config(encoder_config) {
  encoder = register_module("encoder", make_encoder(config));
  head = register_module("head", AffinityHead(config));
}

AffinityNet make_affinity_net(const CamClassifier& classifier) {
  const torch::NoGradGuard no_grad;
  AffinityNet network(classifier->config.encoder);
  draw_weights(*network->head);
  // 1x1 convolutions are drawn small, for the ends of heads; these are hidden layers, where features must differ.
  for (torch::Tensor& weight : network->head->parameters()) {
    weight.normal_(0, std::sqrt(2.0 / static_cast<double>(weight.size(1))));
  }
  tensor::load_into(*network->encoder, tensor::state_of(*classifier->encoder), "the classifier");
  share_foundation(*classifier->encoder, *network->encoder);
  return network;
}

AffinityNet load_affinity_net(const Path& file_or_run) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(model_inside(file_or_run));
  const std::string source = checkpoint.file.string();
  if (checkpoint.head != kHead) {
    throw Error("{}: this is no affinity network ({}); `crispformer seeds --refine affinity` makes one", source,
                checkpoint.description);
  }
  const nlohmann::json options = tensor::parse_json(checkpoint.options, source + ": 'options'");
  EncoderConfig encoder = encoder_shape_of(checkpoint);
  if (!encoder.vit) set_map_stride(encoder, options.value("stride", int64_t{16}));
  AffinityNet network(encoder);
  tensor::load_into(*network, checkpoint.tensors, source);
  network->eval();
  return network;
}

void save_affinity_net(const Path& path, const AffinityNet& network) {
  const nlohmann::json options = {{"stride", map_stride(network->config)}};
  const tensor::ModelMeta meta{.arch = network->config.arch,
                               .head = kHead,
                               .width = 0,
                               .classes = {},
                               .layer_norm_eps = network->config.layer_norm_eps,
                               .options = options.dump(),
                               .extra = {}};
  tensor::write_model_file(path, tensor::state_of(*network), meta);
}

}  // namespace crisp::model
