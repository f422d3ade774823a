#pragma once

#include "crisp/model/config.h"
#include "crisp/model/head.h"
#include "crisp/model/layers.h"

namespace crisp::model {

// SegFormer's head (row A0): project each scale, upsample, concatenate from the deepest to the finest, 1x1
// convolution, batch norm, ReLU, dropout, classify.
//
// The projection, the convolution and bilinear upsampling are all linear and upsampling acts on each channel
// alone, so the order may change: Fuse(cat_i Up(P_i C_i)) = sum_i Up((W_i P_i) C_i). The product W_i P_i is
// small, and a 4E-channel map at 1/4 resolution is never made.
struct SegformerHeadImpl : HeadImpl {
  SegformerHeadImpl(const EncoderConfig& encoder, const HeadConfig& head);
  Prediction forward(const Features& features, const ForwardOptions& options) override;

  const double dropout;
  const std::vector<double> offsets;
  torch::nn::ModuleList proj;
  Conv fuse{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  Conv classifier{nullptr};
};
TORCH_MODULE(SegformerHead);

}  // namespace crisp::model
