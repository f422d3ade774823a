#pragma once

#include <functional>
#include <string>

#include "crisp/base/files.h"

namespace crisp::test {

// A committed golden or sample, below tests/.
Path golden(const std::string& name);

// The project's own folder (weights/, docs/).
Path project_folder();

// Real data beside the project (../shared); empty when it is not there. Use with CRISP_NEEDS_SHARED.
Path shared_folder();

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The message of the Error that `work` throws; "no error" when it throws none.
std::string error_of(const std::function<void()>& work);

struct ProgramResult {
  int status = -1;
  std::string out, err;
};

// Runs `crispformer ARGUMENTS` through the shell and returns what it printed and its exit status.
ProgramResult run_program(const std::string& arguments);

// Runs any shell line, for set-ups such as `ulimit`.
ProgramResult run_shell(const std::string& line);

// The program's path, quoted for the shell.
std::string program();

// 'text' quoted for the shell.
std::string quote(const std::string& text);

}  // namespace crisp::test

// Skips the test, loudly, when ../shared is absent.
#define CRISP_NEEDS_SHARED()                                                         \
  if (crisp::test::shared_folder().empty()) {                                        \
    GTEST_SKIP() << "real data is not here: ../shared is absent, this test skipped"; \
  }
