#pragma once

#include "apps/command_line.h"
#include "crisp/flow/train_student.h"

namespace crisp::apps {

inline constexpr const char* kMethodGroup = "Method";

// How a student learns, but for its data and its row of the tables; shared by `train` and `ablate`.
void bind_student(CLI::App& app, flow::StudentOptions& options);

// Its data and its row.
void bind_student_run(CLI::App& app, flow::StudentOptions& options);

}  // namespace crisp::apps
