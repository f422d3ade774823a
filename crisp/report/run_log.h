#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "crisp/base/append_file.h"
#include "crisp/base/files.h"

namespace crisp::report {

// What a field of a log line may be. Nothing stands for a number that was not finite.
using LogValue = std::variant<std::monostate, int64_t, double, std::string>;

// One line of a run's log: what was true after `step` optimizer steps.
struct LogRecord {
  int64_t step = 0;
  std::vector<std::pair<std::string, LogValue>> fields;  // in the order they were written; each name once

  // Whole numbers too; nothing where the field is missing, null or text.
  std::optional<double> number(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
};

// log.jsonl of a run folder: a flat JSON object a line, `step` first. NaN and infinity, which JSON lacks, become null.
// A line is in the file when append() returns, so a killed run loses none.
class RunLog {
 public:
  // Goes on with the file when it is there; a last line that a crash left incomplete is removed first.
  explicit RunLog(const Path& path);

  // Names of fields are the caller's, but for "step".
  void append(const LogRecord& record);

  // After a resume: drops the lines of later steps. The file is replaced as a whole or not at all.
  void truncate_after(int64_t step);

 private:
  AppendFile file_;
};

// All lines, in order. A last line that is incomplete is left out (the run may be writing it); anything else that is
// no flat object with a step is an Error that names the line.
std::vector<LogRecord> read_run_log(const Path& path);

}  // namespace crisp::report
