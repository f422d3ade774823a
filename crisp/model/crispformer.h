#pragma once

#include <array>

#include "crisp/model/config.h"
#include "crisp/model/decoder_parts.h"
#include "crisp/model/head.h"

namespace crisp::model {

// The CrispFormer decoder. All at 1/4 resolution:
//   Y_i = ReLU(BN(Conv1x1(C_i)))            project; E_i = Up(Y_i) is never stored
//   s_i = Up(Conv1x1(Y_i)), w = softmax(s)  dynamic multi-scale fusion (DMF)
//   F   = sum_i w_i E_i                     then dropout of whole channels, seen by every head; fusion `mixed`:
//                                           ReLU here, on the sum, and not in Y_i
//   sigma^2, U from F                       variance head, evaluated once, on the unmodulated fusion
//   w   = softmax(s_i - alpha_i U~)         U-DMF: U~ = U/(1+U) without gradient, alpha_i = softplus(a_i)
//   Z   = Conv1x1(F), Z* = Z + G * Delta    segmentation head and uncertainty-guided refiner
//   boundary logits from F or E_1
// Every part but the projection and the segmentation head can be switched off (rows A1-A6, U0-U4).
struct CrispformerHeadImpl : HeadImpl, Drawn {
  CrispformerHeadImpl(const EncoderConfig& encoder, const HeadConfig& head);
  Prediction forward(const Features& features, const ForwardOptions& options) override;
  void sample(const Features& features, int64_t times, const std::function<void(const Prediction&)>& take) override;
  void draw() override;  // equal weights for all scales, alpha_i = 0.1

  const HeadConfig config;
  torch::nn::ModuleList project;
  torch::nn::ModuleList score{nullptr};  // DMF
  ConvNorm concat{nullptr};              // fusion by concatenation
  torch::Tensor modulation;              // a_i of U-DMF: [4], or [1] when literal
  VarianceHead variance{nullptr};
  Conv classifier{nullptr};
  Refiner refine{nullptr};
  SmallHead boundary{nullptr};

 private:
  using Maps = std::array<torch::Tensor, 4>;
  struct Fused {           // what stands before dropout
    Maps maps;             // Y_i
    torch::Tensor scores;  // s, of DMF
    torch::Tensor weights;
    torch::Tensor fused;  // F, unmodulated
  };
  Fused fuse_all(const Features& features);
  Prediction decide(const Fused& plain, const ForwardOptions& options);
  torch::Tensor scores(const Maps& maps);  // [N, 4, h, w]
  torch::Tensor fuse(const Maps& maps, const torch::Tensor& weights);
  torch::Tensor modulated(const torch::Tensor& scores, const torch::Tensor& uncertainty) const;
};
TORCH_MODULE(CrispformerHead);

}  // namespace crisp::model
