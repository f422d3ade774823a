#pragma once

#include <functional>
#include <vector>

#include "crisp/model/encoder.h"
#include "crisp/model/prediction.h"

namespace crisp::model {

// What stands on the encoder: four feature maps in, a Prediction out.
struct HeadImpl : torch::nn::Module {
  virtual Prediction forward(const Features& features, const ForwardOptions& options) = 0;

  // So many predictions in evaluation mode, each with a dropout of its own (MC-dropout), one after the other to `take`.
  // What no dropout reaches is computed once.
  virtual void sample(const Features& features, int64_t times, const std::function<void(const Prediction&)>& take) {
    for (int64_t i = 0; i < times; ++i) take(forward(features, {.sample_dropout = true}));
  }
};

// Offsets of a network for data without a background (base/classes.h): class 0 is never predicted.
std::vector<double> without_background(int64_t classes);

// Final scores [N, K, h, w] with the head's offsets added; as they are where it has none.
torch::Tensor with_offsets(const torch::Tensor& scores, const std::vector<double>& offsets);

// One factor a channel, 0 or 1/(1-p): dropout of whole channels. Undefined when nothing is to be dropped.
torch::Tensor channel_dropout(const torch::Tensor& map, double probability, bool active);

}  // namespace crisp::model
