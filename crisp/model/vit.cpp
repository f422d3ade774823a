#include "crisp/model/vit.h"

#include "crisp/base/error.h"
#include "crisp/model/vit_packed.h"
#include "crisp/tensor/arch.h"
#include "crisp/tensor/cpu_quirks.h"
#include "crisp/tensor/device.h"
#include "crisp/tensor/onednn.h"

namespace crisp::model {
namespace {

// A module that only gives its layers a common name.
std::shared_ptr<torch::nn::Module> group(torch::nn::Module& parent, const std::string& name) {
  return parent.register_module(name, std::make_shared<torch::nn::Module>());
}

void check_blocks(const std::vector<int64_t>& blocks, int64_t depth) {
  int64_t before = 0;
  for (const int64_t block : blocks) {
    if (block <= before || block > depth) {
      throw Error("blocks of the encoder are asked for by ascending numbers from 1 to {}; got {}", depth,
                  fmt::join(blocks, ", "));
    }
    before = block;
  }
  if (blocks.empty()) throw Error("no block of the encoder was asked for");
}

}  // namespace

LayerScaleImpl::LayerScaleImpl(int64_t dim) : gamma(register_parameter("gamma", torch::empty({dim}))) {}

void LayerScaleImpl::draw() { gamma.fill_(1); }

VitBlockImpl::VitBlockImpl(const VitConfig& config) : heads(config.heads) {
  const int64_t dim = config.dim, hidden = dim * config.mlp_ratio;
  norm1 = register_module("norm1", layer_norm(dim, config.layer_norm_eps));
  const auto attention = group(*this, "attn");
  qkv = attention->register_module("qkv", Linear(dim, 3 * dim));
  proj = attention->register_module("proj", Linear(dim, dim));
  ls1 = register_module("ls1", LayerScale(dim));
  norm2 = register_module("norm2", layer_norm(dim, config.layer_norm_eps));
  const auto mlp = group(*this, "mlp");
  fc1 = mlp->register_module("fc1", Linear(dim, hidden));
  fc2 = mlp->register_module("fc2", Linear(hidden, dim));
  ls2 = register_module("ls2", LayerScale(dim));
}

torch::Tensor VitBlockImpl::forward(const torch::Tensor& tokens) {
  const int64_t batch = tokens.size(0), dim = tokens.size(2);
  const torch::Tensor all =
      qkv->forward(norm1->forward(tokens)).view({batch, -1, 3, heads, dim / heads}).permute({2, 0, 3, 1, 4});
  const torch::Tensor mixed = torch::scaled_dot_product_attention(all[0], all[1], all[2]);
  const torch::Tensor x =
      torch::addcmul(tokens, ls1->gamma, proj->forward(mixed.transpose(1, 2).reshape({batch, -1, dim})));
  return torch::addcmul(x, ls2->gamma, fc2->forward(torch::gelu(fc1->forward(norm2->forward(x)))));
}

VitImpl::VitImpl(const VitConfig& config_) : config(config_) {
  tensor::avoid_hidden_amx();
  if (config.heads < 1 || config.dim % config.heads != 0) {
    throw Error("{} attention heads do not divide {} channels", config.heads, config.dim);
  }
  cls_token = register_parameter("cls_token", torch::empty({1, 1, config.dim}));
  pos_embed = register_parameter("pos_embed", torch::empty({1, 1 + config.grid * config.grid, config.dim}));
  patches =
      group(*this, "patch_embed")
          ->register_module(
              "proj", Conv(ConvShape{.in = 3, .out = config.dim, .kernel = config.patch, .stride = config.patch}));
  blocks = register_module("blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < config.depth; ++i) blocks->push_back(VitBlock(config));
  norm = register_module("norm", layer_norm(config.dim, config.layer_norm_eps));
}

VitImpl::~VitImpl() = default;

void VitImpl::draw() {
  const torch::NoGradGuard no_grad;
  pos_embed.normal_(0, 0.02);
  cls_token.zero_();
}

torch::Tensor VitImpl::resampled_positions(int64_t height, int64_t width) const {
  const int64_t grid = config.grid;
  if (height == grid && width == grid) return pos_embed;
  const torch::Tensor square =
      pos_embed.narrow(1, 1, grid * grid).view({1, grid, grid, config.dim}).permute({0, 3, 1, 2});
  // The original gives the factor, which decides where samples lie; its 0.1 keeps rounding from losing a row.
  const auto factor = [&](int64_t side) {
    return config.positions == Positions::kOriginal
               ? std::optional((static_cast<double>(side) + 0.1) / static_cast<double>(grid))
               : std::nullopt;
  };
  const torch::Tensor fitted =
      at::upsample_bicubic2d(square.to(torch::kFloat), {height, width}, false, factor(height), factor(width));
  return torch::cat({pos_embed.narrow(1, 0, 1), map_to_tokens(fitted).to(pos_embed.scalar_type())}, 1);
}

torch::Tensor VitImpl::positions(int64_t height, int64_t width) {
  if (torch::GradMode::is_enabled() && pos_embed.requires_grad()) return resampled_positions(height, width);
  const uint32_t version = pos_embed.is_inference() ? 0 : static_cast<uint32_t>(pos_embed._version());
  const PositionKey key{pos_embed.const_data_ptr(), version, height, width};
  const std::lock_guard lock(cache_lock_);
  if (!cached_positions_.defined() || cached_key_ != key) {
    const torch::NoGradGuard no_grad;
    cached_positions_ = resampled_positions(height, width);
    cached_key_ = key;
  }
  return cached_positions_;
}

std::vector<torch::Tensor> VitImpl::forward(const torch::Tensor& images, const std::vector<int64_t>& wanted) {
  check_blocks(wanted, config.depth);
  const int64_t patch = config.patch;
  if (images.dim() != 4 || images.size(1) != 3 || images.size(2) < patch || images.size(3) < patch ||
      images.size(2) % patch != 0 || images.size(3) % patch != 0) {
    throw Error("the encoder takes images [N, 3, H, W] with sides that are multiples of {} pixels; got {}", patch,
                tensor::shape_text(images.sizes()));
  }
  const int64_t height = images.size(2) / patch, width = images.size(3) / patch;
  if (packed_ && images.is_cpu() && !torch::GradMode::is_enabled()) {
    return packed_->forward(images, positions(height, width), wanted);
  }
  torch::Tensor tokens =
      torch::cat({cls_token.expand({images.size(0), -1, -1}), map_to_tokens(patches->forward(images))}, 1) +
      positions(height, width);
  std::vector<torch::Tensor> maps;
  for (int64_t i = 0; i < wanted.back(); ++i) {
    tokens = blocks[static_cast<size_t>(i)]->as<VitBlock>()->forward(tokens);
    if (wanted[maps.size()] != i + 1) continue;
    maps.push_back(tokens_to_map(norm->forward(tokens.narrow(1, 1, height * width)).contiguous(), height, width));
  }
  return maps;
}

torch::ScalarType VitImpl::pack(torch::ScalarType type) {
  if (type != torch::kFloat && type != torch::kBFloat16) {
    throw UsageError("a ViT on the CPU computes in f32 or bf16, not in {}", tensor::dtype_name(type));
  }
  if (type == torch::kBFloat16 && !tensor::cpu_has_bf16()) type = torch::kFloat;
  packed_ = std::make_unique<PackedVit>(*this, type);
  return type;
}

bool holds_vit(const tensor::Checkpoint& checkpoint) { return tensor::vit_shape(checkpoint.tensors).has_value(); }

VitConfig vit_config_of(const tensor::Checkpoint& checkpoint) {
  const auto shape = tensor::vit_shape(checkpoint.tensors);
  if (!shape) {
    throw Error("{}: not a plain vision transformer such as DINOv2 ({})", checkpoint.file.string(),
                checkpoint.description);
  }
  constexpr int64_t kHeadDim = 64;
  if (checkpoint.heads == 0 && shape->dim % kHeadDim != 0) {
    throw Error("{}: {} channels are not a multiple of {}, so the number of attention heads is not known",
                checkpoint.file.string(), shape->dim, kHeadDim);
  }
  const bool hub = checkpoint.style == tensor::NameStyle::kDinoHub || checkpoint.style == tensor::NameStyle::kDinoHub5;
  return {.arch = checkpoint.arch,
          .dim = shape->dim,
          .depth = shape->depth,
          .heads = checkpoint.heads > 0 ? checkpoint.heads : shape->dim / kHeadDim,
          .patch = shape->patch,
          .grid = shape->grid,
          .mlp_ratio = shape->mlp_ratio,
          .layer_norm_eps = checkpoint.layer_norm_eps,
          .positions = hub ? Positions::kTransformers : Positions::kOriginal};
}

Vit load_vit(const Path& file_or_hub_folder) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(file_or_hub_folder);
  Vit vit(vit_config_of(checkpoint));
  const std::string prefix = "encoder.";
  tensor::StateDict inner;
  for (const auto& [name, value] : checkpoint.tensors) {
    if (name.starts_with(prefix)) inner.emplace(name.substr(prefix.size()), value);
  }
  tensor::load_into(*vit, inner, checkpoint.file.string());
  for (const torch::Tensor& parameter : vit->parameters()) parameter.set_requires_grad(false);
  vit->eval();
  return vit;
}

}  // namespace crisp::model
