#include "tests/support/support.h"

#include <sys/wait.h>

#include <cstdlib>

#include "crisp/base/error.h"

namespace crisp::test {

Path project_folder() { return CRISP_SOURCE_DIR; }

Path golden(const std::string& name) { return project_folder() / "tests" / name; }

Path shared_folder() {
  const Path folder = project_folder() / ".." / "shared";
  return std::filesystem::is_directory(folder / "data") ? folder : Path();
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string program() { return quote(CRISP_PROGRAM); }

ProgramResult run_shell(const std::string& line) {
  const TemporaryFolder folder;
  const Path out = folder.path() / "out", err = folder.path() / "err";
  const std::string whole = "( " + line + " ) >" + quote(out.string()) + " 2>" + quote(err.string());
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out), read_text(err)};
}

ProgramResult run_program(const std::string& arguments) { return run_shell(program() + " " + arguments); }

}  // namespace crisp::test
