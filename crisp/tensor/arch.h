#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// The measures by which Mix Transformers are told apart.
struct EncoderShape {
  std::array<int64_t, 4> dims{};    // channels of the stages
  std::array<int64_t, 4> depths{};  // blocks of the stages
  bool operator==(const EncoderShape&) const = default;
};

// "mit_b0" .. "mit_b5", or "custom" for any other.
std::string arch_name(const EncoderShape& shape);

// From the tensors, in our names; nothing when they are not those of an encoder of four stages.
std::optional<EncoderShape> encoder_shape(const StateDict& state);

// The measures by which plain vision transformers (DINOv2) are told apart. How many heads share `dim` does not show.
struct VitShape {
  int64_t dim = 0, depth = 0;
  int64_t patch = 14;  // pixels on a side of a patch
  int64_t grid = 37;   // patches on a side of the square that positions were learned on
  int64_t mlp_ratio = 4;
  bool operator==(const VitShape&) const = default;
};

// "vit_s14", "vit_b14", "vit_l14", or "custom" for any other.
std::string arch_name(const VitShape& shape);

// As encoder_shape.
std::optional<VitShape> vit_shape(const StateDict& state);

}  // namespace crisp::tensor
