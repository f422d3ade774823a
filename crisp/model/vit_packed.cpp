#include "crisp/model/vit_packed.h"

#include <cmath>

#include "crisp/model/vit.h"
#include "crisp/model/vit_norm_kernel.h"
#include "crisp/model/vit_softmax_kernel.h"
#include "crisp/tensor/onednn.h"

namespace crisp::model {
namespace {

constexpr int64_t kUsualTokens = 1025;  // 448x448 pixels

}  // namespace

PackedVit::Product PackedVit::packed(const torch::Tensor& weight, const torch::Tensor& bias,
                                     const torch::Tensor& scale) const {
  torch::Tensor w = weight.detach().to(torch::kFloat), b = bias.detach().to(torch::kFloat);
  if (scale.defined()) {
    const torch::Tensor s = scale.detach().to(torch::kFloat);
    w = w * s.unsqueeze(1);
    b = b * s;
  }
  return {tensor::packed_weight(w.to(type_), kUsualTokens), b.to(type_).contiguous()};
}

PackedVit::PackedVit(const VitImpl& vit, torch::ScalarType type)
    : type_(type),
      dim_(vit.config.dim),
      heads_(vit.config.heads),
      patch_(vit.config.patch),
      eps_(vit.config.layer_norm_eps) {
  const torch::NoGradGuard no_grad;
  const auto single = [](const torch::Tensor& value) { return value.detach().to(torch::kFloat).contiguous(); };
  const auto norm = [&](const torch::nn::LayerNorm& layer) { return Norm{single(layer->weight), single(layer->bias)}; };
  class_token_ = single(vit.cls_token);
  patches_ = packed(vit.patches->weight.flatten(1), vit.patches->bias);
  for (const auto& module : *vit.blocks) {
    const auto& block = *module->as<VitBlock>();
    blocks_.push_back({.norm1 = norm(block.norm1),
                       .norm2 = norm(block.norm2),
                       .qkv = packed(block.qkv->weight, block.qkv->bias),
                       .proj = packed(block.proj->weight, block.proj->bias, block.ls1->gamma),
                       .fc1 = packed(block.fc1->weight, block.fc1->bias),
                       .fc2 = packed(block.fc2->weight, block.fc2->bias, block.ls2->gamma)});
  }
  norm_ = norm(vit.norm);
}

// Patches are rows of a matrix: the convolution is one product.
torch::Tensor PackedVit::start(const torch::Tensor& images, const torch::Tensor& positions) const {
  const int64_t batch = images.size(0), height = images.size(2) / patch_, width = images.size(3) / patch_;
  const torch::Tensor rows = images.to(type_)
                                 .view({batch, 3, height, patch_, width, patch_})
                                 .permute({0, 2, 4, 1, 3, 5})
                                 .reshape({batch, height * width, 3 * patch_ * patch_});
  torch::Tensor tokens = positions.to(torch::kFloat).repeat({batch, 1, 1});
  tokens.narrow(1, 0, 1).add_(class_token_);
  tokens.narrow(1, 1, height * width).add_(patches_(rows));
  return tokens;
}

torch::Tensor PackedVit::add_and_norm(const torch::Tensor& x, const torch::Tensor& branch, const Norm& norm) const {
  torch::Tensor out = torch::empty(x.sizes(), x.options().dtype(type_));
  const NormCall shape{.dim = dim_,
                       .eps = static_cast<float>(eps_),
                       .weight = norm.weight.const_data_ptr<float>(),
                       .bias = norm.bias.const_data_ptr<float>()};
  const bool half = type_ == torch::kBFloat16;
  auto* sums = x.mutable_data_ptr<float>();
  const void* added = branch.defined() ? branch.const_data_ptr() : nullptr;
  void* normed = out.mutable_data_ptr();
  at::parallel_for(0, x.size(0) * x.size(1), 16, [&](int64_t begin, int64_t end) {
    (half ? add_and_norm_bf16 : add_and_norm_f32)(shape, begin, end, sums, added, normed);
  });
  return out;
}

torch::Tensor PackedVit::attention(const torch::Tensor& qkv) const {
  const int64_t batch = qkv.size(0), tokens = qkv.size(1);
  const int64_t width = dim_ / heads_;
  const torch::Tensor all = qkv.view({batch, tokens, 3, heads_, width});
  const torch::Tensor rows = all.narrow(2, 0, 2).permute({2, 0, 3, 1, 4}).contiguous();  // queries and keys
  const torch::Tensor columns = all.select(2, 2).permute({0, 2, 3, 1}).contiguous();     // values
  const torch::Tensor mixed = torch::empty({batch, tokens, heads_, width}, qkv.options());
  const auto softmax = type_ == torch::kBFloat16 ? softmax_bf16 : softmax_f32;
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  // A head is one thread's: its scores stay in that core's caches, and nobody waits for others on the way.
  const bool inference = c10::InferenceMode::is_enabled();
  at::parallel_for(0, batch * heads_, 1, [&](int64_t begin, int64_t end) {
    const c10::InferenceMode as_outside(inference);
    const torch::NoGradGuard no_grad;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t i = k / heads_, head = k % heads_;
      const torch::Tensor scores = tensor::product_of_rows(rows[0][i][head], rows[1][i][head]);
      softmax(scale, 0, tokens, tokens, scores.mutable_data_ptr());
      mixed[i].select(1, head).copy_(tensor::product_of_rows(scores, columns[i][head]));
    }
  });
  return mixed.view({batch, tokens, dim_});
}

std::vector<torch::Tensor> PackedVit::forward(const torch::Tensor& images, const torch::Tensor& positions,
                                              const std::vector<int64_t>& wanted) const {
  const int64_t height = images.size(2) / patch_, width = images.size(3) / patch_;
  torch::Tensor x = start(images.contiguous(), positions), branch;
  std::vector<torch::Tensor> maps;
  for (int64_t i = 0; i < wanted.back(); ++i) {
    const Block& block = blocks_[static_cast<size_t>(i)];
    torch::Tensor y = add_and_norm(x, branch, block.norm1);
    y = attention(block.qkv(y));
    y = add_and_norm(x, block.proj(y), block.norm2);
    branch = block.fc2(block.fc1(y, tensor::After::kGelu));
    if (wanted[maps.size()] != i + 1) continue;
    x.add_(branch);
    branch = torch::Tensor();
    const torch::Tensor seen = x.narrow(1, 1, height * width);
    maps.push_back(tokens_to_map(torch::layer_norm(seen, {dim_}, norm_.weight, norm_.bias, eps_), height, width));
  }
  return maps;
}

}  // namespace crisp::model
