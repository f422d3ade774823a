#include "crisp/tensor/name_pattern.h"

#include <algorithm>

namespace crisp::tensor {
namespace {

// A number without leading zeros at the start of `text`, taken off it.
std::optional<int> take_number(std::string_view& text) {
  constexpr size_t kMostDigits = 4;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits || (digits > 1 && text[0] == '0')) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) value = value * 10 + (c - '0');
  text.remove_prefix(digits);
  return value;
}

}  // namespace

std::optional<Indices> match_name(std::string_view pattern, std::string_view name) {
  Indices found;
  while (!pattern.empty()) {
    if (pattern[0] != '{') {
      if (name.empty() || name[0] != pattern[0]) return std::nullopt;
      name.remove_prefix(1);
      pattern.remove_prefix(1);
      continue;
    }
    const char kind = pattern[1];
    const auto number = take_number(name);
    if (!number || (kind == 'I' && *number == 0)) return std::nullopt;
    (kind == 'j' ? found.block : found.stage) = kind == 'I' ? *number - 1 : *number;
    pattern.remove_prefix(3);
  }
  return name.empty() ? std::optional(found) : std::nullopt;
}

std::string fill_name(std::string_view pattern, const Indices& indices) {
  std::string text;
  while (!pattern.empty()) {
    if (pattern[0] != '{') {
      text += pattern[0];
      pattern.remove_prefix(1);
      continue;
    }
    text += std::to_string(pattern[1] == 'j' ? indices.block : pattern[1] == 'I' ? indices.stage + 1 : indices.stage);
    pattern.remove_prefix(3);
  }
  return text;
}

}  // namespace crisp::tensor
