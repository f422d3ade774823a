#include "crisp/model/vit_scales.h"

#include "crisp/base/error.h"
#include "crisp/tensor/autocast.h"

namespace crisp::model {
namespace {

constexpr int64_t kPixelsACell = 4;  // of the photo, for the branch that sees it: two convolutions of stride 2

}  // namespace

std::shared_ptr<FrozenVit> load_frozen_vit(const Path& file, torch::ScalarType type) {
  auto vit = std::make_shared<FrozenVit>();
  vit->network = load_vit(file);
  vit->type = vit->network->pack(type);
  vit->sha256 = sha256_of_file(file);
  vit->file = file;
  return vit;
}

VitScalesImpl::VitScalesImpl(const EncoderConfig& config_) : config(config_) {
  const VitView& view = config.vit.value();
  detail = register_module("detail", torch::nn::ModuleList());
  if (view.detail > 0) {
    detail->push_back(ConvNorm(3, view.detail / 2, 3, 2));
    detail->push_back(ConvNorm(view.detail / 2, view.detail, 3, 2));
  }
  const auto blocks = static_cast<int64_t>(view.blocks.size());
  mean = register_buffer("mean", torch::empty({blocks, config.dims[3]}));
  deviation = register_buffer("deviation", torch::empty({blocks, config.dims[3]}));
}

void VitScalesImpl::draw() {
  mean.zero_();
  deviation.fill_(1);
}

void VitScalesImpl::standardise_by(const torch::Tensor& mean_, const torch::Tensor& deviation_) {
  const torch::NoGradGuard no_grad;
  mean.copy_(mean_);
  deviation.copy_(deviation_);
}

void VitScalesImpl::stand_on(std::shared_ptr<FrozenVit> vit) {
  const int64_t dim = vit->network->config.dim;
  if (dim != config.dims[3]) {
    throw Error("{}: its tokens have {} channels, the network was made for {}", vit->file.string(), dim,
                config.dims[3]);
  }
  vit_ = std::move(vit);
  vit_->network->to(mean.device());
}

torch::Tensor VitScalesImpl::ask(const torch::Tensor& images) {
  if (!vit_) throw Error("a network on {} was asked about photos before it was given that encoder", config.arch);
  const torch::NoGradGuard no_grad;
  const tensor::NoAutocast own_types(images.device());
  const torch::Tensor seen = images.to(vit_->network->pos_embed.options());
  std::vector<torch::Tensor> maps;
  for (const torch::Tensor& map : vit_->network->forward(seen, config.vit->blocks)) {
    maps.push_back(map.permute({0, 2, 3, 1}).to(torch::kFloat));
  }
  return torch::stack(maps, 1);
}

torch::Tensor VitScalesImpl::standard(const torch::Tensor& tokens, int64_t block) const {
  const torch::Tensor values = (tokens.select(1, block).to(mean.options()) - mean[block]) / deviation[block];
  return values.permute({0, 3, 1, 2});
}

torch::Tensor VitScalesImpl::last(const torch::Tensor& images, const torch::Tensor& tokens) {
  return standard(tokens.defined() ? tokens : ask(images), static_cast<int64_t>(config.vit->blocks.size()) - 1);
}

Features VitScalesImpl::forward(const torch::Tensor& images, const torch::Tensor& tokens) {
  const torch::Tensor known = tokens.defined() ? tokens : ask(images);
  const int64_t h = known.size(2), w = known.size(3), fine = config.vit->fine * kPixelsACell;
  Features features;
  if (!detail->is_empty()) {
    torch::Tensor map = upsample(images.to(mean.options()), {h * fine, w * fine});
    for (const auto& layer : *detail) map = layer->as<ConvNorm>()->forward(map).relu_();
    features[0] = map.contiguous(torch::MemoryFormat::ChannelsLast);
  }
  for (size_t i = 1; i < features.size(); ++i) {
    features[i] = standard(known, static_cast<int64_t>(std::min(i, config.vit->blocks.size())) - 1);
  }
  return features;
}

void VitScalesImpl::to(torch::Device device, bool non_blocking) {
  EncoderImpl::to(device, non_blocking);
  if (vit_) vit_->network->to(device);
}

void VitScalesImpl::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  EncoderImpl::to(device, dtype, non_blocking);
  if (vit_) vit_->network->to(device);
}

}  // namespace crisp::model
