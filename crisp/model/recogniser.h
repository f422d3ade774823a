#pragma once

#include <string>

#include "crisp/model/efficientnet_lite.h"

namespace crisp::model {

// Which classes does the photo show, asked of a second network that knows a million photos: one linear layer, learned
// from tags, on what EfficientNet-Lite sees, x = W [mean; mean of the best 20% of the cells] + b. An encoder that
// learned from few photos confuses what it has not seen (cows and horses); this one seldom does, and errs elsewhere.
struct RecogniserImpl : torch::nn::Module {
  RecogniserImpl(const std::string& name, int64_t classes);  // with the background, which is always there

  torch::Tensor pooled(const torch::Tensor& images);   // as MiT wants them, in the photo's own size -> [N, 2560], f32
  torch::Tensor forward(const torch::Tensor& images);  // logits [N, K-1], f32

  EfficientNetLite network{nullptr};
  Linear scores{nullptr};
};
TORCH_MODULE(Recogniser);

// The whole of the gate (presence.h): it knows what the pixels' own encoder does not.
inline constexpr double kRecogniserStrength = 1;

}  // namespace crisp::model
