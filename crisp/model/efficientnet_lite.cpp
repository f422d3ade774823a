#include "crisp/model/efficientnet_lite.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"

namespace crisp::model {
namespace {

struct Stage {
  int64_t repeats, kernel, stride, expand, out;
};
constexpr Stage kStages[] = {{1, 3, 1, 1, 16},  {2, 3, 2, 6, 24},  {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80},
                             {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320}};
constexpr int64_t kStem = 32;

struct Size {
  const char* name;
  double width, depth;
};
constexpr Size kSizes[] = {
    {"efficientnet_lite0", 1.0, 1.0}, {"efficientnet_lite1", 1.0, 1.1}, {"efficientnet_lite2", 1.1, 1.2}};

// To a multiple of 8, and not down by more than a tenth.
int64_t widened(int64_t channels, double factor) {
  const double wanted = static_cast<double>(channels) * factor;
  const auto round = std::max<int64_t>(8, static_cast<int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(round) < 0.9 * wanted ? round + 8 : round;
}

// TensorFlow's "same": what is missing stands half before, half behind, the odd one behind.
torch::Tensor padded(const torch::Tensor& x, int64_t kernel, int64_t stride) {
  const auto missing = [&](int64_t size) {
    return std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size);
  };
  const int64_t across = missing(x.size(3)), down = missing(x.size(2));
  return torch::constant_pad_nd(x, {across / 2, across - across / 2, down / 2, down - down / 2});
}

}  // namespace

std::vector<BottleneckShape> bottlenecks(const std::string& name) {
  const auto* size = std::find_if(std::begin(kSizes), std::end(kSizes), [&](const Size& s) { return s.name == name; });
  if (size == std::end(kSizes)) {
    throw Error("{}: not a known recogniser; known are efficientnet_lite0, efficientnet_lite1, efficientnet_lite2",
                name);
  }
  std::vector<BottleneckShape> blocks;
  int64_t in = kStem;
  for (const Stage& stage : kStages) {
    const bool end =
        &stage == std::begin(kStages) || &stage == std::end(kStages) - 1;  // first and last are not repeated
    const int64_t out = widened(stage.out, size->width);
    const auto repeats =
        end ? stage.repeats : static_cast<int64_t>(std::ceil(size->depth * static_cast<double>(stage.repeats)));
    for (int64_t i = 0; i < repeats; ++i) {
      blocks.push_back({in, out, stage.expand, stage.kernel, i == 0 ? stage.stride : 1});
      in = out;
    }
  }
  return blocks;
}

EfficientNetLiteImpl::EfficientNetLiteImpl(const std::string& name) {
  stem_ = register_module("stem", Conv(ConvShape{.in = 3, .out = kStem, .kernel = 3, .stride = 2}));
  auto list = register_module("blocks", torch::nn::ModuleList());
  for (const BottleneckShape& shape : bottlenecks(name)) {
    auto block = std::make_shared<torch::nn::Module>();
    const int64_t inner = shape.in * shape.expand;
    Block parts{.shape = shape};
    if (shape.expand > 1)
      parts.expand = block->register_module("expand", Conv(ConvShape{.in = shape.in, .out = inner}));
    parts.depthwise = block->register_module(
        "depthwise",
        Conv(ConvShape{.in = inner, .out = inner, .kernel = shape.kernel, .stride = shape.stride, .groups = inner}));
    parts.project = block->register_module("project", Conv(ConvShape{.in = inner, .out = shape.out}));
    list->push_back(block);
    blocks_.push_back(std::move(parts));
  }
  last_ = register_module("last", Conv(ConvShape{.in = blocks_.back().shape.out, .out = kLiteFeatures}));
}

torch::Tensor EfficientNetLiteImpl::forward(const torch::Tensor& images) {
  // From ImageNet's mean and deviation to (rgb - 127) / 128.
  const auto per_channel = [&](std::initializer_list<float> values) {
    return torch::tensor(at::ArrayRef<float>(values)).to(images.options()).view({1, 3, 1, 1});
  };
  torch::Tensor x = images * per_channel({0.229f * 255 / 128, 0.224f * 255 / 128, 0.225f * 255 / 128}) +
                    per_channel({(0.485f * 255 - 127) / 128, (0.456f * 255 - 127) / 128, (0.406f * 255 - 127) / 128});
  x = torch::relu6(stem_->forward(padded(x, 3, 2)));
  for (Block& block : blocks_) {
    torch::Tensor y = block.expand ? torch::relu6(block.expand->forward(x)) : x;
    y = torch::relu6(block.depthwise->forward(padded(y, block.shape.kernel, block.shape.stride)));
    y = block.project->forward(y);
    x = block.shape.adds() ? x + y : y;
  }
  return torch::relu6(last_->forward(x));
}

}  // namespace crisp::model
