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

}  // namespace crisp::tensor
