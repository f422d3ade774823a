#include "apps/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/memory.h"
#include "crisp/base/parallel.h"
#include "crisp/tensor/cuda.h"

namespace crisp::apps {

CommandLine::CommandLine(const std::string& name, const std::string& what, const std::string& examples)
    : app(what, "crispformer " + name) {
  app.footer("Examples:\n" + examples);
  app.set_config("--config", "", "read options from this TOML file; the command line wins")->check(CLI::ExistingFile);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.get_formatter()->column_width(34);
  app.option_defaults()->always_capture_default();
  app.add_option("--device", device, "auto, cpu, cuda or cuda:N")->group("Common");
  app.add_option("--threads", threads, "CPU threads; 0 takes every core this process may use")
      ->check(CLI::Range(0, 1024))
      ->group("Common");
  app.add_option("--seed", seed, "of everything random")->group("Common");
  app.add_flag("--quiet", quiet, "no progress and no notes on stderr")->group("Common");
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // what CLI11 wants of a vector
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError("{}\n       `{} --help` shows the options", error.what(), app.get_name());
  }
  if (threads == 0) threads = available_cores();
  keep_freed_memory();
  torch::set_num_threads(threads);
  torch::manual_seed(seed);
  tensor::forbid_tf32();
  if (quiet) set_log_level(LogLevel::kQuiet);
  return true;
}

std::string as_typed(const std::string& command, const Arguments& arguments) {
  constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%";
  std::string text = "crispformer " + command;
  for (const std::string& word : arguments) {
    text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) {
      if (c == '\'') {
        text += "'\\''";
      } else {
        text += c;
      }
    }
    text += '\'';
  }
  return text;
}

}  // namespace crisp::apps
