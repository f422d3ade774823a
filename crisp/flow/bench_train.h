#pragma once

#include <functional>

#include "crisp/loss/total.h"
#include "crisp/model/segmenter.h"

namespace crisp::flow {

struct StepOptions {
  model::SegmenterConfig network;
  loss::Options loss;
  int64_t batch = 1;
  int64_t side = 512;                       // of the pixels; on a ViT its own
  int64_t label_side = 512;                 // of what the losses see
  torch::ScalarType dtype = torch::kFloat;  // of mixed precision
  torch::Device device = torch::kCPU;
};

// One step of training, as often as it is called: forward, every loss, backward, clipping, AdamW and the teacher's
// mean, on pixels, tokens and labels drawn once. Returns when the device is done.
std::function<void()> training_step(const StepOptions& options);

}  // namespace crisp::flow
