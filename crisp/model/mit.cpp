#include "crisp/model/mit.h"

#include "crisp/ops/depthwise_gelu.h"
#include "crisp/tensor/cpu_quirks.h"

namespace crisp::model {

torch::Tensor pad_to_smallest(const torch::Tensor& images) {
  const int64_t bottom = std::max<int64_t>(0, kSmallestSide - images.size(2)),
                right = std::max<int64_t>(0, kSmallestSide - images.size(3));
  return bottom == 0 && right == 0 ? images : torch::replication_pad2d(images, {0, right, 0, bottom});
}

PatchEmbedImpl::PatchEmbedImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride, double eps)
    : proj(register_module(
          "proj", Conv(ConvShape{.in = in, .out = out, .kernel = kernel, .stride = stride, .padding = kernel / 2}))),
      norm(register_module("norm", layer_norm(out, eps))) {}

torch::Tensor PatchEmbedImpl::forward(const torch::Tensor& map, int64_t& height, int64_t& width) {
  const torch::Tensor embedded = proj->forward(map);
  height = embedded.size(2);
  width = embedded.size(3);
  return norm->forward(map_to_tokens(embedded));
}

AttentionImpl::AttentionImpl(int64_t dim, int64_t heads_, int64_t reduction_, double eps)
    : heads(heads_),
      reduction(reduction_),
      q(register_module("q", Linear(dim, dim))),
      kv(register_module("kv", Linear(dim, 2 * dim))),
      proj(register_module("proj", Linear(dim, dim))) {
  if (reduction == 1) return;
  sr = register_module("sr", Conv(ConvShape{.in = dim, .out = dim, .kernel = reduction, .stride = reduction}));
  norm = register_module("norm", layer_norm(dim, eps));
}

torch::Tensor AttentionImpl::forward(const torch::Tensor& tokens, int64_t height, int64_t width) {
  const int64_t batch = tokens.size(0), dim = tokens.size(2), head_dim = dim / heads;
  torch::Tensor source = tokens;
  if (reduction > 1) {
    source = norm->forward(map_to_tokens(sr->forward(tokens_to_map(tokens, height, width))));
  }
  const torch::Tensor queries = q->forward(tokens).view({batch, -1, heads, head_dim}).transpose(1, 2);
  const torch::Tensor both = kv->forward(source).view({batch, -1, 2, heads, head_dim});
  const torch::Tensor keys = both.select(2, 0).transpose(1, 2);
  const torch::Tensor values = both.select(2, 1).transpose(1, 2);
  const torch::Tensor mixed = torch::scaled_dot_product_attention(queries, keys, values);
  return proj->forward(mixed.transpose(1, 2).reshape({batch, -1, dim}));
}

MixFfnImpl::MixFfnImpl(int64_t dim, int64_t hidden)
    : fc1(register_module("fc1", Linear(dim, hidden))),
      fc2(register_module("fc2", Linear(hidden, dim))),
      dwconv(register_module(
          "dwconv", Conv(ConvShape{.in = hidden, .out = hidden, .kernel = 3, .padding = 1, .groups = hidden}))) {}

torch::Tensor MixFfnImpl::forward(const torch::Tensor& tokens, int64_t height, int64_t width) {
  const torch::Tensor hidden = tokens_to_map(fc1->forward(tokens), height, width);
  return fc2->forward(map_to_tokens(ops::depthwise_gelu(hidden, dwconv->weight, dwconv->bias)));
}

BlockImpl::BlockImpl(int64_t dim, int64_t heads, int64_t reduction, int64_t mlp_ratio, double drop_path_, double eps)
    : drop_path(drop_path_),
      norm1(register_module("norm1", layer_norm(dim, eps))),
      norm2(register_module("norm2", layer_norm(dim, eps))),
      attn(register_module("attn", Attention(dim, heads, reduction, eps))),
      mlp(register_module("mlp", MixFfn(dim, dim * mlp_ratio))) {}

torch::Tensor BlockImpl::add(const torch::Tensor& x, torch::Tensor branch) const {
  if (is_training() && drop_path > 0) {
    const torch::Tensor keep = torch::empty({x.size(0), 1, 1}, x.options()).bernoulli_(1 - drop_path);
    branch = branch * (keep / (1 - drop_path));
  }
  return torch::GradMode::is_enabled() ? x + branch : branch.add_(x);
}

torch::Tensor BlockImpl::forward(torch::Tensor tokens, int64_t height, int64_t width) {
  tokens = add(tokens, attn->forward(norm1->forward(tokens), height, width));
  return add(tokens, mlp->forward(norm2->forward(tokens), height, width));
}

StageImpl::StageImpl(const EncoderConfig& config, size_t index, double first_drop, double drop_step) {
  const int64_t in = index == 0 ? 3 : config.dims[index - 1], dim = config.dims[index];
  embed =
      register_module("embed", PatchEmbed(in, dim, index == 0 ? 7 : 3, config.strides[index], config.layer_norm_eps));
  blocks = register_module("blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < config.depths[index]; ++i) {
    blocks->push_back(Block(dim, config.heads[index], config.reductions[index], config.mlp_ratio,
                            first_drop + drop_step * static_cast<double>(i), config.layer_norm_eps));
  }
  norm = register_module("norm", layer_norm(dim, config.layer_norm_eps));
}

torch::Tensor StageImpl::forward(const torch::Tensor& map) {
  int64_t height = 0, width = 0;
  torch::Tensor tokens = embed->forward(map, height, width);
  for (const auto& block : *blocks) tokens = block->as<Block>()->forward(tokens, height, width);
  return tokens_to_map(norm->forward(tokens), height, width);
}

MitImpl::MitImpl(const EncoderConfig& config_) : config(config_) {
  tensor::avoid_hidden_amx();
  stages = register_module("stages", torch::nn::ModuleList());
  int64_t total = 0, before = 0;
  for (const int64_t depth : config.depths) total += depth;
  const double step = total > 1 ? config.drop_path / static_cast<double>(total - 1) : 0;
  for (size_t i = 0; i < 4; ++i) {
    stages->push_back(Stage(config, i, step * static_cast<double>(before), step));
    before += config.depths[i];
  }
}

Features MitImpl::forward(const torch::Tensor& images, const torch::Tensor&) {
  Features features;
  torch::Tensor map = images.contiguous(torch::MemoryFormat::ChannelsLast);
  for (size_t i = 0; i < 4; ++i) features[i] = map = stages[i]->as<Stage>()->forward(map);
  return features;
}

}  // namespace crisp::model
