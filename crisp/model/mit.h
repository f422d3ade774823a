#pragma once

#include "crisp/model/config.h"
#include "crisp/model/encoder.h"
#include "crisp/model/layers.h"

namespace crisp::model {

// An encoder needs sides of at least 32 pixels: smaller images grow by repeating their right and lower edge.
constexpr int64_t kSmallestSide = 32;
torch::Tensor pad_to_smallest(const torch::Tensor& images);

// Overlapping patch embedding: a strided convolution, then layer norm over channels.
struct PatchEmbedImpl : torch::nn::Module {
  PatchEmbedImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride, double eps);
  torch::Tensor forward(const torch::Tensor& map, int64_t& height, int64_t& width);  // -> tokens [N, H*W, C]

  Conv proj{nullptr};
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(PatchEmbed);

// Attention whose keys and values come from a map reduced by `reduction` in each direction.
struct AttentionImpl : torch::nn::Module {
  AttentionImpl(int64_t dim, int64_t heads, int64_t reduction, double eps);
  torch::Tensor forward(const torch::Tensor& tokens, int64_t height, int64_t width);

  const int64_t heads, reduction;
  Linear q{nullptr}, kv{nullptr}, proj{nullptr};
  Conv sr{nullptr};
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(Attention);

// Linear, 3x3 depthwise convolution (which carries the position), GELU, linear.
struct MixFfnImpl : torch::nn::Module {
  MixFfnImpl(int64_t dim, int64_t hidden);
  torch::Tensor forward(const torch::Tensor& tokens, int64_t height, int64_t width);

  Linear fc1{nullptr}, fc2{nullptr};
  Conv dwconv{nullptr};
};
TORCH_MODULE(MixFfn);

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t dim, int64_t heads, int64_t reduction, int64_t mlp_ratio, double drop_path, double eps);
  torch::Tensor forward(torch::Tensor tokens, int64_t height, int64_t width);

  // x + branch; in training whole samples of the branch are dropped (stochastic depth).
  torch::Tensor add(const torch::Tensor& x, torch::Tensor branch) const;

  const double drop_path;
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  Attention attn{nullptr};
  MixFfn mlp{nullptr};
};
TORCH_MODULE(Block);

struct StageImpl : torch::nn::Module {
  StageImpl(const EncoderConfig& config, size_t index, double first_drop, double drop_step);
  torch::Tensor forward(const torch::Tensor& map);  // [N, C, H, W] -> [N, C', H', W']

  PatchEmbed embed{nullptr};
  torch::nn::ModuleList blocks;
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(Stage);

// Mix Transformer encoder. Takes normalised images [N, 3, H, W] of any size with sides of at least 32.
struct MitImpl : EncoderImpl {
  explicit MitImpl(const EncoderConfig& config);
  Features forward(const torch::Tensor& images, const torch::Tensor& tokens = {}) override;

  const EncoderConfig config;
  torch::nn::ModuleList stages;
};
TORCH_MODULE(Mit);

}  // namespace crisp::model
