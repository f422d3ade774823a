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

struct KnownVit {
  const char* name;
  VitShape shape;
};

constexpr std::array<KnownVit, 3> kKnownVits = {{
    {"vit_s14", {.dim = 384, .depth = 12}},
    {"vit_b14", {.dim = 768, .depth = 12}},
    {"vit_l14", {.dim = 1024, .depth = 24}},
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

std::string arch_name(const VitShape& shape) {
  for (const KnownVit& known : kKnownVits) {
    if (known.shape == shape) return known.name;
  }
  return "custom";
}

std::optional<VitShape> vit_shape(const StateDict& state) {
  const auto patches = state.find("encoder.patch_embed.proj.weight"), positions = state.find("encoder.pos_embed"),
             hidden = state.find("encoder.blocks.0.mlp.fc1.weight");
  if (patches == state.end() || patches->second.dim() != 4 || positions == state.end() ||
      positions->second.dim() != 3 || hidden == state.end() || hidden->second.dim() != 2) {
    return std::nullopt;
  }
  VitShape shape{.dim = patches->second.size(0), .patch = patches->second.size(2), .grid = 1};
  const int64_t cells = positions->second.size(1) - 1;  // the class token has a position too
  while ((shape.grid + 1) * (shape.grid + 1) <= cells) ++shape.grid;
  if (shape.dim < 1 || shape.patch < 1 || shape.grid * shape.grid != cells || hidden->second.size(0) < shape.dim ||
      hidden->second.size(0) % shape.dim != 0) {
    return std::nullopt;
  }
  shape.mlp_ratio = hidden->second.size(0) / shape.dim;
  while (state.contains(fmt::format("encoder.blocks.{}.norm1.weight", shape.depth))) ++shape.depth;
  return shape.depth > 0 ? std::optional(shape) : std::nullopt;
}

}  // namespace crisp::tensor
