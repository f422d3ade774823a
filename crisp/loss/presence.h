#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::loss {

// Mean over the known of -y log s(x) - (1 - y) log(1 - s(x)), s the logistic function. `logits` and `target` [N, K-1];
// target 1: the crop shows the class, 0: the photo does not have it, below 0: not known.
torch::Tensor presence(const torch::Tensor& logits, const torch::Tensor& target);

}  // namespace crisp::loss
