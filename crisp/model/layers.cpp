#include "crisp/model/layers.h"

#include <cmath>

namespace crisp::model {

void draw_weights(torch::nn::Module& network) {
  const torch::NoGradGuard no_grad;
  const auto parts = network.modules(/*include_self=*/false);  // parents before children
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (auto* drawn = dynamic_cast<Drawn*>(part->get())) drawn->draw();
  }
  if (auto* drawn = dynamic_cast<Drawn*>(&network)) drawn->draw();
}

LinearImpl::LinearImpl(int64_t in, int64_t out)
    : weight(register_parameter("weight", torch::empty({out, in}))),
      bias(register_parameter("bias", torch::empty({out}))) {}

void LinearImpl::draw() {
  weight.normal_(0, 0.02).clamp_(-0.04, 0.04);
  bias.zero_();
}

ConvImpl::ConvImpl(const ConvShape& s)
    : shape(s), weight(register_parameter("weight", torch::empty({s.out, s.in / s.groups, s.kernel, s.kernel}))) {
  if (s.bias) bias = register_parameter("bias", torch::empty({s.out}));
}

void ConvImpl::draw() {
  const auto fan_out = static_cast<double>(shape.kernel * shape.kernel * shape.out / shape.groups);
  weight.normal_(0, shape.kernel == 1 ? 0.01 : std::sqrt(2.0 / fan_out));
  if (bias.defined()) bias.zero_();
}

torch::Tensor ConvImpl::forward(const torch::Tensor& x) const {
  if (shape.kernel == 1 && shape.stride == 1) return pointwise(x, weight, bias);
  return torch::conv2d(x, weight, bias, shape.stride, shape.padding, 1, shape.groups);
}

ConvNormImpl::ConvNormImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride)
    : conv(register_module(
          "conv",
          Conv(ConvShape{
              .in = in, .out = out, .kernel = kernel, .stride = stride, .padding = kernel / 2, .bias = false}))),
      norm(register_module("norm", torch::nn::BatchNorm2d(out))) {}

bool ConvNormImpl::can_fold(const torch::Tensor& x) const {
  return !is_training() && !torch::GradMode::is_enabled() && x.is_cpu();
}

std::pair<torch::Tensor, torch::Tensor> ConvNormImpl::folded() const {
  const auto type = conv->weight.scalar_type();
  const torch::Tensor scale =
      norm->weight.to(torch::kFloat) / (norm->running_var.to(torch::kFloat) + norm->options.eps()).sqrt();
  const torch::Tensor weight = conv->weight.to(torch::kFloat) * scale.view({-1, 1, 1, 1});
  const torch::Tensor bias = norm->bias.to(torch::kFloat) - norm->running_mean.to(torch::kFloat) * scale;
  return {weight.to(type), bias.to(type)};
}

torch::Tensor ConvNormImpl::forward(const torch::Tensor& x) {
  if (!can_fold(x)) return norm->forward(conv->forward(x));
  const auto [weight, bias] = folded();
  if (conv->shape.kernel == 1 && conv->shape.stride == 1) return pointwise(x, weight, bias);
  return torch::conv2d(x, weight, bias, conv->shape.stride, conv->shape.padding);
}

torch::nn::LayerNorm layer_norm(int64_t dim, double eps) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim}).eps(eps));
}

torch::Tensor tokens_to_map(const torch::Tensor& tokens, int64_t height, int64_t width) {
  return tokens.view({tokens.size(0), height, width, tokens.size(2)}).permute({0, 3, 1, 2});
}

torch::Tensor map_to_tokens(const torch::Tensor& map) {
  return map.permute({0, 2, 3, 1}).reshape({map.size(0), map.size(2) * map.size(3), map.size(1)});
}

torch::Tensor pointwise(const torch::Tensor& map, const torch::Tensor& weight, const torch::Tensor& bias) {
  const torch::Tensor matrix = weight.dim() == 2 ? weight : weight.flatten(1);
  return torch::linear(map.permute({0, 2, 3, 1}), matrix, bias).permute({0, 3, 1, 2});
}

torch::Tensor upsample(const torch::Tensor& map, at::IntArrayRef size) {
  if (map.sizes().slice(2) == size) return map;
  return torch::upsample_bilinear2d(map, size, /*align_corners=*/false);
}

}  // namespace crisp::model
