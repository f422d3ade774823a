#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crisp::tensor {

// Names of tensors as patterns: {i} is the stage, {I} the stage counted from 1, {j} the block.
struct Indices {
  int stage = 0, block = 0;
};

// The numbers in a name of this pattern; nothing for another name. Numbers with leading zeros are no numbers.
std::optional<Indices> match_name(std::string_view pattern, std::string_view name);

std::string fill_name(std::string_view pattern, const Indices& indices);

}  // namespace crisp::tensor
