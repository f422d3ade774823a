#include "crisp/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "crisp/base/progress.h"

namespace crisp {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made =
        std::make_shared<spdlog::logger>("crispformer", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%^%v%$");
    return made;
  }();
  return *instance;
}

LogLevel current_level = LogLevel::kInfo;

}  // namespace

void set_log_level(LogLevel level) { current_level = level; }
LogLevel log_level() { return current_level; }

void log_line(LogLevel level, const std::string& text) {
  if (level < current_level || level == LogLevel::kQuiet) return;
  Progress::clear_line();
  if (level == LogLevel::kWarning) {
    logger().warn("warning: {}", text);
  } else {
    logger().info("{}", text);
  }
}

}  // namespace crisp
