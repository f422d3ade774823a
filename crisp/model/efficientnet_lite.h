#pragma once

#include <string>
#include <vector>

#include "crisp/model/layers.h"

namespace crisp::model {

// One inverted bottleneck: a 1x1 convolution to `expand` times as many channels (none where that is 1), a depthwise
// one, a 1x1 one back; what comes in is added where the shapes agree.
struct BottleneckShape {
  int64_t in, out, expand, kernel, stride;
  bool adds() const { return in == out && stride == 1; }
};

// The blocks of "efficientnet_lite0", "1" or "2" (Tan and Le, 2019; Liu, 2020); an unknown name is an error that lists
// these.
std::vector<BottleneckShape> bottlenecks(const std::string& name);

inline constexpr int64_t kLiteFeatures = 1280;

// EfficientNet-Lite without its classes, batch norms folded into the convolutions (scripts/recogniser/convert.py): a
// small convolutional network that knows ImageNet. It is not trained here. Images as MiT wants them, [N, 3, H, W] of
// any size, in; its last features [N, 1280, ceil(H / 32), ceil(W / 32)] out.
struct EfficientNetLiteImpl : torch::nn::Module {
  explicit EfficientNetLiteImpl(const std::string& name);

  torch::Tensor forward(const torch::Tensor& images);

 private:
  struct Block {
    BottleneckShape shape;
    Conv expand{nullptr}, depthwise{nullptr}, project{nullptr};
  };
  Conv stem_{nullptr}, last_{nullptr};
  std::vector<Block> blocks_;
};
TORCH_MODULE(EfficientNetLite);

}  // namespace crisp::model
