#include "crisp/tensor/arch.h"

#include "crisp/base/error.h"

namespace crisp::tensor {
namespace {

struct Known {
  const char* name;
  EncoderShape shape;
};

constexpr std::array<Known, 6> kKnown = {{
    {"mit_b0", {{32, 64, 160, 256}, {2, 2, 2, 2}}},
    {"mit_b1", {{64, 128, 320, 512}, {2, 2, 2, 2}}},
    {"mit_b2", {{64, 128, 320, 512}, {3, 4, 6, 3}}},
    {"mit_b3", {{64, 128, 320, 512}, {3, 4, 18, 3}}},
    {"mit_b4", {{64, 128, 320, 512}, {3, 8, 27, 3}}},
    {"mit_b5", {{64, 128, 320, 512}, {3, 6, 40, 3}}},
}};

}  // namespace

std::string arch_name(const EncoderShape& shape) {
  for (const Known& known : kKnown) {
    if (known.shape == shape) return known.name;
  }
  return "custom";
}

std::optional<EncoderShape> encoder_shape(const StateDict& state) {
  EncoderShape shape;
  for (size_t stage = 0; stage < shape.dims.size(); ++stage) {
    const std::string stem = fmt::format("encoder.stages.{}.", stage);
    const auto projection = state.find(stem + "embed.proj.weight");
    if (projection == state.end() || projection->second.dim() != 4) return std::nullopt;
    shape.dims[stage] = projection->second.size(0);
    while (state.contains(fmt::format("{}blocks.{}.norm1.weight", stem, shape.depths[stage]))) ++shape.depths[stage];
    if (shape.depths[stage] == 0) return std::nullopt;
  }
  return shape;
}

}  // namespace crisp::tensor
