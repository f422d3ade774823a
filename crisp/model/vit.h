#pragma once

#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "crisp/base/files.h"
#include "crisp/model/layers.h"
#include "crisp/model/vit_config.h"
#include "crisp/tensor/checkpoint.h"

namespace crisp::model {

class PackedVit;

// One learned factor a channel, on what a block adds to its input.
struct LayerScaleImpl : torch::nn::Module, Drawn {
  explicit LayerScaleImpl(int64_t dim);
  void draw() override;  // 1

  torch::Tensor gamma;
};
TORCH_MODULE(LayerScale);

// x + ls1 * attn(norm1(x)), then x + ls2 * mlp(norm2(x)).
struct VitBlockImpl : torch::nn::Module {
  explicit VitBlockImpl(const VitConfig& config);
  torch::Tensor forward(const torch::Tensor& tokens);  // [N, T, D] -> the same

  const int64_t heads;
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  Linear qkv{nullptr}, proj{nullptr}, fc1{nullptr}, fc2{nullptr};
  LayerScale ls1{nullptr}, ls2{nullptr};
};
TORCH_MODULE(VitBlock);

// A plain vision transformer under DINOv2's names. It is made to be used frozen: there is no stochastic depth.
struct VitImpl : torch::nn::Module, Drawn {
  explicit VitImpl(const VitConfig& config);
  ~VitImpl() override;

  // Normalised images [N, 3, H, W] whose sides are multiples of the patch -> for each of `blocks` (1 is the first,
  // `depth` the last; ascending) its tokens after the final norm, without the class token, as a map
  // [N, dim, H/patch, W/patch] in channels-last memory. Blocks after the last one named are not computed.
  // Maps have the type of the parameters; packed, they are f32. Several threads may call it at once.
  std::vector<torch::Tensor> forward(const torch::Tensor& images, const std::vector<int64_t>& blocks);

  // From now on passes without gradients on the CPU use a copy of the weights laid out for oneDNN, layer scales folded
  // into them, in bf16 or f32; the residual sum stays f32. Later changes of the parameters do not reach the copy.
  // Returns the type that is used: f32 where bf16 was asked for and the processor has none.
  torch::ScalarType pack(torch::ScalarType type);
  torch::ScalarType pack_bf16() { return pack(torch::kBFloat16); }

  // [1, 1 + H*W, D] in the type of the parameters, the class token's first. That of the last size is kept, under a
  // lock.
  torch::Tensor positions(int64_t height, int64_t width);

  void draw() override;  // positions normal with deviation 0.02, class token 0; its parts are drawn by draw_weights()

  const VitConfig config;
  torch::Tensor cls_token, pos_embed;
  Conv patches{nullptr};
  torch::nn::ModuleList blocks;
  torch::nn::LayerNorm norm{nullptr};

 private:
  torch::Tensor resampled_positions(int64_t height, int64_t width) const;

  using PositionKey = std::tuple<const void*, uint32_t, int64_t, int64_t>;  // values, their version, size
  std::mutex cache_lock_;
  PositionKey cached_key_{};
  torch::Tensor cached_positions_;
  std::unique_ptr<PackedVit> packed_;
};
TORCH_MODULE(Vit);

// Whether a checkpoint's encoder is a plain vision transformer, of a known shape or not.
bool holds_vit(const tensor::Checkpoint& checkpoint);

// Its shape: from the tensors, and what these do not show from the source. DINOv2's heads have 64 channels each.
VitConfig vit_config_of(const tensor::Checkpoint& checkpoint);

// The encoder of a file under DINOv2's names or of a hub folder. In evaluation mode, on the CPU, f32, without
// gradients.
Vit load_vit(const Path& file_or_hub_folder);

}  // namespace crisp::model
