#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace crisp {

// The one exception for what a user or a file can cause. The message names the thing (path, option,
// tensor with both shapes) and says what to do. Caught once, in main.
class Error : public std::runtime_error {
 public:
  template <typename... Args>
  explicit Error(fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
};

// A wrong command line: same as Error, but the program exits with status 2 instead of 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace crisp
