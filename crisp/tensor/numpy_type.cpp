#include "crisp/tensor/numpy_type.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/tensor/bytes.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {
namespace {

constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 12> kTypes = {{
    {"f2", torch::kFloat16},
    {"f4", torch::kFloat32},
    {"f8", torch::kFloat64},
    {"i1", torch::kInt8},
    {"i2", torch::kInt16},
    {"i4", torch::kInt32},
    {"i8", torch::kInt64},
    {"u1", torch::kUInt8},
    {"u2", torch::kUInt16},
    {"u4", torch::kUInt32},
    {"u8", torch::kUInt64},
    {"b1", torch::kBool},
}};

}  // namespace

std::optional<NumpyType> parse_numpy_type(std::string_view text) {
  NumpyType result;
  if (!text.empty() && std::string_view("<>=|").find(text[0]) != std::string_view::npos) {
    result.swapped = text[0] == '>';
    text.remove_prefix(1);
  }
  if (text == "O" || text == "O8" || text == "O4") {
    result.object = true;
    return result;
  }
  if (text == "?") text = "b1";
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& item) { return item.first == text; });
  if (found == kTypes.end()) return std::nullopt;
  result.type = found->second;
  return result;
}

std::optional<std::string> numpy_type_name(torch::ScalarType type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& item) { return item.second == type; });
  if (found == kTypes.end()) return std::nullopt;
  return fmt::format("{}{}", c10::elementSize(type) == 1 ? '|' : '<', found->first);
}

torch::Tensor tensor_from_numpy(const NumpyType& type, torch::IntArrayRef shape, bool fortran_order,
                                std::span<const std::byte> bytes, const std::string& source) {
  constexpr size_t kMostDimensions = 64;
  const auto item_size = static_cast<int64_t>(c10::elementSize(type.type));
  const auto needed = tensor_bytes(shape, item_size);
  if (!needed || shape.size() > kMostDimensions) throw Error("{}: impossible array shape", source);
  if (*needed != static_cast<int64_t>(bytes.size())) {
    throw Error("{}: an array of shape {} needs {} bytes and has {}; the file is truncated or corrupt", source,
                shape_text(shape), *needed, bytes.size());
  }
  std::vector<int64_t> stored(shape.begin(), shape.end());
  if (fortran_order) std::reverse(stored.begin(), stored.end());
  torch::Tensor tensor = torch::empty(stored, type.type);
  auto* to = static_cast<std::byte*>(tensor.mutable_data_ptr());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  if (type.swapped && item_size > 1) {
    for (int64_t at = 0; at < *needed; at += item_size) std::reverse(to + at, to + at + item_size);
  }
  if (type.type == torch::kBool) {  // a byte other than 0 and 1 is no valid boolean in C++
    std::transform(to, to + bytes.size(), to, [](std::byte b) { return b == std::byte{0} ? b : std::byte{1}; });
  }
  if (!fortran_order || shape.size() < 2) return tensor;
  std::vector<int64_t> reversed(shape.size());
  for (size_t i = 0; i < reversed.size(); ++i) reversed[i] = static_cast<int64_t>(shape.size() - 1 - i);
  return tensor.permute(reversed).contiguous();
}

}  // namespace crisp::tensor
