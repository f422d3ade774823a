#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// While it lives, convolutions of an input of this size go without cuDNN unless the size has come often. cuDNN plans
// every convolution of a network anew for every size, which takes about a second on an H200; a pass without it takes
// milliseconds more. Photos come in hundreds of sizes. On the CPU nothing changes.
class SeldomSizes {
 public:
  explicit SeldomSizes(const torch::Tensor& input);
  ~SeldomSizes();
  SeldomSizes(const SeldomSizes&) = delete;
  SeldomSizes& operator=(const SeldomSizes&) = delete;

 private:
  const bool before_;
};

}  // namespace crisp::tensor
