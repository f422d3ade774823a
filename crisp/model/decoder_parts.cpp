#include "crisp/model/decoder_parts.h"

namespace crisp::model {
namespace {

constexpr double kVarianceFloor = 0.1, kVarianceCeiling = 10;
constexpr double kVarianceBias = 0.3775;  // softplus(0.3775) + 0.1 = 1.0
constexpr double kGateBias = -2;

Conv conv1x1(int64_t in, int64_t out) { return Conv(ConvShape{.in = in, .out = out}); }

}  // namespace

SmallHeadImpl::SmallHeadImpl(int64_t in, int64_t hidden, int64_t outputs)
    : ConvNormImpl(in, hidden, 3), out(register_module("out", conv1x1(hidden, outputs))) {}

torch::Tensor SmallHeadImpl::forward(const torch::Tensor& x) { return out->forward(ConvNormImpl::forward(x).relu_()); }

VarianceHeadImpl::VarianceHeadImpl(int64_t width, int64_t hidden, int64_t classes)
    : SmallHeadImpl(width, hidden, classes) {}

void VarianceHeadImpl::draw() {
  out->weight.normal_(0, 0.01);
  out->bias.fill_(kVarianceBias);
}

torch::Tensor VarianceHeadImpl::forward(const torch::Tensor& fused) {
  const torch::Tensor rho = SmallHeadImpl::forward(fused).to(torch::kFloat);
  return (torch::softplus(rho) + kVarianceFloor).clamp_max(kVarianceCeiling);
}

RefinerImpl::RefinerImpl(int64_t width, int64_t hidden, int64_t classes)
    : SmallHeadImpl(width + classes + 1, hidden, classes), gate(register_module("gate", conv1x1(width + 1, 1))) {}

void RefinerImpl::draw() {
  out->weight.zero_();
  out->bias.zero_();
  gate->bias.fill_(kGateBias);
}

torch::Tensor RefinerImpl::forward(const torch::Tensor& fused, const torch::Tensor& logits,
                                   const torch::Tensor& uncertainty, bool detach, torch::Tensor& gate_out) {
  const auto source = [&](const torch::Tensor& x) { return detach ? x.detach() : x; };
  const torch::Tensor f = source(fused), u = source(uncertainty).to(fused.scalar_type());
  const torch::Tensor p = torch::softmax(source(logits), 1);
  const int64_t width = f.size(1);

  // cat(F, U) and cat(F, P, U) are never made for the wide F where a sum of two products does the same.
  gate_out =
      torch::sigmoid(pointwise(f, gate->weight.narrow(1, 0, width), gate->bias) + u * gate->weight.narrow(1, width, 1));
  torch::Tensor hidden;
  if (can_fold(f)) {
    const auto [weight, bias] = folded();
    const torch::Tensor side = torch::cat({p, u}, 1).contiguous(torch::MemoryFormat::ChannelsLast);
    hidden = torch::conv2d(f, weight.narrow(1, 0, width), bias, 1, 1);
    hidden += torch::conv2d(side, weight.narrow(1, width, side.size(1)), {}, 1, 1);
  } else {
    hidden = ConvNormImpl::forward(torch::cat({f, p, u}, 1));
  }
  const torch::Tensor delta = out->forward(hidden.relu_());
  return logits + gate_out * delta;
}

}  // namespace crisp::model
