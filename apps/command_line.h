#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace crisp::apps {

// The parser of one command, with what all commands share: --config, --device, --threads, --seed, --quiet.
// Each command binds its options to plain variables through `app` once; the command line, the config file,
// --help and the saved effective configuration all come from that one binding.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& what, const std::string& examples);

  // False when --help was asked for and printed. Throws UsageError for anything the parser refuses.
  // Applies --threads and --quiet.
  bool parse(const std::vector<std::string>& arguments);

  // Every option with its value in force, as TOML that --config reads back.
  std::string effective_config() const { return app.config_to_str(/*default_also=*/true); }

  CLI::App app;
  std::string device = "auto";
  int threads = 0;  // after parse(): the number in use
  uint64_t seed = 0;
  bool quiet = false;
};

// A flag whose value so far is in the effective configuration too: CLI11 captures those of options alone.
inline CLI::Option* bind_flag(CLI::App& app, const std::string& name, bool& value, const std::string& what) {
  CLI::Option* flag = app.add_flag(name, value, what);
  return value ? flag->default_str("true") : flag;
}

// What another option decides where this one was not given, on the command line or in a configuration file.
template <typename Value>
void take_unless_given(CLI::App& app, const char* option, Value& value, const Value& other) {
  if (app.get_option(option)->count() > 0) return;
  value = other;
  app.get_option(option)->capture_default_str();
}

using Arguments = std::vector<std::string>;

// "crispformer eval --out 'my scores'": the command as a shell takes it again.
std::string as_typed(const std::string& command, const Arguments& arguments);

// The commands, each in the file of its name. They return the exit status.
int run_info(const Arguments& arguments);
int run_bench(const Arguments& arguments);
int run_predict(const Arguments& arguments);
int run_eval(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_check(const Arguments& arguments);
int run_synth(const Arguments& arguments);
int run_classify(const Arguments& arguments);
int run_seeds(const Arguments& arguments);
int run_seeds_import(const Arguments& arguments);
int run_relabel(const Arguments& arguments);
int run_calibrate(const Arguments& arguments);
int run_show(const Arguments& arguments);
int run_train(const Arguments& arguments);
int run_run(const Arguments& arguments);
int run_recipe(const Arguments& arguments);
int run_ablate(const Arguments& arguments);

}  // namespace crisp::apps
