#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// An element type as NumPy writes it: "<f4", ">i8", "|b1", "O8".
struct NumpyType {
  torch::ScalarType type = torch::kFloat32;
  bool swapped = false;  // big-endian
  bool object = false;   // Python objects; `type` means nothing then
};

// Nothing for types that have no tensor counterpart (text, records, dates, long doubles).
std::optional<NumpyType> parse_numpy_type(std::string_view text);

// "<f4"; nothing for types NumPy does not have (bf16).
std::optional<std::string> numpy_type_name(torch::ScalarType type);

// A tensor of its own memory from an array's raw bytes, in C order whatever the order given. An Error that starts
// with `source` when shape and byte count disagree.
torch::Tensor tensor_from_numpy(const NumpyType& type, torch::IntArrayRef shape, bool fortran_order,
                                std::span<const std::byte> bytes, const std::string& source);

}  // namespace crisp::tensor
