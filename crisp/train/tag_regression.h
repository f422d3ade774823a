#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::train {

// A linear layer that says tags.
struct TagLayer {
  torch::Tensor weight, bias;  // [C, D], [C]
};

// Logistic regression from features [P, D] to tags [P, C] of zeros and ones, every class by itself:
//   mean over photos of -y log s(x) - (1 - y) log(1 - s(x)), + 0.01 |w|^2,
// x = w f + b, f the features less their mean, over their deviation or, where that is larger, a tenth of the mean one:
// what hardly stirred in these photos must not shout in the next. Both are folded into what is returned. There is one
// minimum, towards which L-BFGS goes at most 100 steps; nothing random is in it. Features are f32, on the CPU.
TagLayer learn_tags(const torch::Tensor& features, const torch::Tensor& tags);

}  // namespace crisp::train
