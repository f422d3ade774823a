#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// One tensor of a safetensors file; offsets count from the start of the file.
struct TensorEntry {
  std::string name;
  torch::ScalarType type = torch::kFloat32;
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;
};

// What a safetensors file says about itself, checked: dtypes are known, every entry's bytes are those of its
// shape, and the entries fill the file without overlap or hole, in the order of their offsets.
struct SafetensorsHeader {
  std::vector<TensorEntry> entries;
  Metadata metadata;
};

// Reads and checks the header of a whole file held in `file`. Errors start with `source`. Memory stays in
// proportion to the header, however hostile: nothing is allocated by a size that the file merely claims.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& source);

// The format's name of a torch type ("F32"), and back; an Error for a type the format does not have.
std::string safetensors_type_name(torch::ScalarType type);

}  // namespace crisp::tensor
