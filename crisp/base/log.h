#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace crisp {

// Messages for people, on stderr, one line each. stdout is left to results.
enum class LogLevel { kInfo, kWarning, kQuiet };

// Messages below this level are dropped; kQuiet drops all (errors leave through main).
void set_log_level(LogLevel level);
LogLevel log_level();

void log_line(LogLevel level, const std::string& text);

template <typename... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  log_line(LogLevel::kInfo, fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args>
void log_warning(fmt::format_string<Args...> text, Args&&... args) {
  log_line(LogLevel::kWarning, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace crisp
