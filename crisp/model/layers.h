#pragma once

#include <utility>

#include "crisp/tensor/torch.h"

namespace crisp::model {

// Building a network only allocates its tensors, since most networks are filled from a file at once (drawing
// 80 million random numbers takes longer than reading them). draw_weights() below gives every part that has
// an opinion its starting values; torch's norms carry theirs from the start.
struct Drawn {
  virtual ~Drawn() = default;
  virtual void draw() = 0;
};

// Calls draw() on every part, inner parts first, so that an outer part has the last word on its layers.
void draw_weights(torch::nn::Module& network);

struct LinearImpl : torch::nn::Module, Drawn {
  LinearImpl(int64_t in, int64_t out);
  torch::Tensor forward(const torch::Tensor& x) const { return torch::linear(x, weight, bias); }
  void draw() override;  // normal with deviation 0.02, cut at two deviations; bias 0

  torch::Tensor weight, bias;
};
TORCH_MODULE(Linear);

struct ConvShape {
  int64_t in, out, kernel = 1, stride = 1, padding = 0, groups = 1;
  bool bias = true;
};

struct ConvImpl : torch::nn::Module, Drawn {
  explicit ConvImpl(const ConvShape& shape);
  // 1x1 kernels run as a matrix product over pixels, which keeps channels-last maps as they are.
  torch::Tensor forward(const torch::Tensor& x) const;
  void draw() override;  // He, fan out; 1x1 kernels, which end heads or stand before a norm, deviation 0.01; bias 0

  const ConvShape shape;
  torch::Tensor weight, bias;
};
TORCH_MODULE(Conv);

// Convolution without bias, then batch norm. In evaluation on the CPU without gradients the norm is folded
// into the weights: one pass over memory instead of two.
struct ConvNormImpl : torch::nn::Module {
  ConvNormImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1);
  torch::Tensor forward(const torch::Tensor& x);

  bool can_fold(const torch::Tensor& x) const;
  // Weight and bias of the one convolution that equals both.
  std::pair<torch::Tensor, torch::Tensor> folded() const;

  Conv conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
};
TORCH_MODULE(ConvNorm);

torch::nn::LayerNorm layer_norm(int64_t dim, double eps);

// Tokens [N, H*W, C] and maps [N, C, H, W] in channels-last memory are the same bytes: both ways are views.
torch::Tensor tokens_to_map(const torch::Tensor& tokens, int64_t height, int64_t width);
torch::Tensor map_to_tokens(const torch::Tensor& map);

// 1x1 convolution of a map; weight [out, in] or [out, in, 1, 1].
torch::Tensor pointwise(const torch::Tensor& map, const torch::Tensor& weight, const torch::Tensor& bias = {});

// Bilinear, half-pixel centres, no antialiasing: what every published SegFormer does.
torch::Tensor upsample(const torch::Tensor& map, at::IntArrayRef size);

}  // namespace crisp::model
