#pragma once

#include <fmt/format.h>

#include <string>

#include "crisp/report/run_log.h"

namespace crisp::test {

// A run's log without what a clock decides.
inline std::string log_without_clock(const Path& run) {
  std::string text;
  for (const report::LogRecord& record : report::read_run_log(run / "log.jsonl")) {
    text += fmt::format("{}:", record.step);
    for (const auto& [name, value] : record.fields) {
      if (name == "seconds" || name == "images_per_s") continue;
      text += fmt::format(" {}={}", name, record.number(name).value_or(-1));
    }
    text += '\n';
  }
  return text;
}

}  // namespace crisp::test
