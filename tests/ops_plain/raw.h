#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/support.h"

namespace crisp::test {

// A golden of raw numbers, tests/goldens/seedops/NAME.
template <typename T>
std::vector<T> raw(const std::string& name) {
  const std::string bytes = read_text(golden("goldens/seedops/" + name));
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace crisp::test
