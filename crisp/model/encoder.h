#pragma once

#include <array>
#include <memory>

#include "crisp/model/config.h"
#include "crisp/tensor/torch.h"

namespace crisp::model {

// Four feature maps, the finest first, [N, C, H, W] in channels-last memory. MiT: C1..C4 at 1/4, 1/8, 1/16 and 1/32 of
// the image (rounded up). A frozen ViT: see vit_scales.h.
using Features = std::array<torch::Tensor, 4>;

// Normalised images [N, 3, H, W] to the four maps that a head fuses.
struct EncoderImpl : torch::nn::Module {
  // `tokens`: what the frozen part of an encoder says of these images, for whoever has kept it (vit_scales.h). MiT has
  // no such part.
  virtual Features forward(const torch::Tensor& images, const torch::Tensor& tokens = {}) = 0;

  // The fourth map alone, for whoever needs no other.
  virtual torch::Tensor last(const torch::Tensor& images, const torch::Tensor& tokens = {}) {
    return forward(images, tokens)[3];
  }
};

// MiT, or a frozen ViT as four scales, which stands on no ViT yet.
std::shared_ptr<EncoderImpl> make_encoder(const EncoderConfig& config);

}  // namespace crisp::model
