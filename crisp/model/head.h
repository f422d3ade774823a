#pragma once

#include "crisp/model/mit.h"
#include "crisp/model/prediction.h"

namespace crisp::model {

// What stands on the encoder: four feature maps in, a Prediction out.
struct HeadImpl : torch::nn::Module {
  virtual Prediction forward(const Features& features, const ForwardOptions& options) = 0;
};

// One factor a channel, 0 or 1/(1-p): dropout of whole channels. Undefined when nothing is to be dropped.
torch::Tensor channel_dropout(const torch::Tensor& map, double probability, bool active);

}  // namespace crisp::model
