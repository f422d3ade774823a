#include "crisp/flow/run_folder.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/version.h"

namespace crisp::flow {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "crispformer run";
constexpr int kVersion = 1;

Path head_of(const Path& folder) { return folder / "run.json"; }

}  // namespace

bool is_run_folder(const Path& folder) { return std::filesystem::is_regular_file(head_of(folder)); }

RunFacts read_run(const Path& folder) {
  const Path file = head_of(folder);
  if (!is_run_folder(folder)) throw Error("{}: no run.json in it, so it is no run folder", folder.string());
  try {
    const Json json = Json::parse(read_text(file));
    if (json.at("format") != kFormat || json.at("format_version").get<int>() > kVersion) {
      throw Error("{}: not a run this version of the program reads", file.string());
    }
    return {.task = json.at("task").get<std::string>(),
            .command = json.at("command").get<std::string>(),
            .data = json.at("data").get<std::string>(),
            .split = json.at("split").get<std::string>(),
            .classes = json.at("classes").get<ClassNames>(),
            .complete = json.at("complete").get<bool>(),
            .seconds = json.at("seconds").get<double>(),
            .labels = json.value("labels", ""),
            .selected_by = json.value("selected_by", "")};
  } catch (const Json::exception& problem) {
    throw Error("{}: cannot be read: {}", file.string(), problem.what());
  }
}

RunFolder::RunFolder(Path folder, RunFacts facts, const std::string& config, bool resume)
    : folder_(std::move(folder)), facts_(std::move(facts)), lock_(folder_) {
  if (is_run_folder(folder_) && !resume) {
    throw Error("{}: there is a run in it already ({}); `--resume {}` goes on with it, or choose another --out",
                folder_.string(), read_run(folder_).complete ? "complete" : "not complete", folder_.string());
  }
  if (is_run_folder(folder_)) {
    facts_.command = read_run(folder_).command;  // how it was begun says more than that it went on
  } else {
    if (!config.empty()) write_atomic(folder_ / "config.toml", config);  // a run within a run has its options there
    write();
  }
}

void RunFolder::write() const {
  Json json = {{"format", kFormat},           {"format_version", kVersion}, {"task", facts_.task},
               {"complete", facts_.complete}, {"command", facts_.command},  {"version", version()},
               {"commit", commit()},          {"data", facts_.data},        {"split", facts_.split},
               {"classes", facts_.classes},   {"seconds", facts_.seconds}};
  if (!facts_.labels.empty()) json["labels"] = facts_.labels;
  if (!facts_.selected_by.empty()) json["selected_by"] = facts_.selected_by;
  write_atomic(head_of(folder_), json.dump(2) + "\n");
}

void RunFolder::finish(double seconds) {
  facts_.complete = true;
  facts_.seconds = seconds;
  write();
}

}  // namespace crisp::flow
