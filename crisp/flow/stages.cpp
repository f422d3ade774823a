#include "crisp/flow/stages.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"

namespace crisp::flow {

using Json = nlohmann::ordered_json;

Stages::Stages(Path out) : file_(out / "stages.json") {
  if (!std::filesystem::exists(file_)) {
    // Stages remove their own folders when they are made again: nobody else's may lie there.
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
      if (entry.path().filename() == ".lock") continue;
      throw Error("{}: not empty, and not the folder of a run ({} is in it); choose another --out", out.string(),
                  entry.path().filename().string());
    }
    return;
  }
  try {
    const Json stages = Json::parse(read_text(file_));  // items() of a temporary would outlive it
    for (const auto& [name, stage] : stages.items()) {
      done_[name] = {stage.at("config").get<std::string>(), stage.at("seconds").get<double>(),
                     stage.at("complete").get<bool>()};
    }
  } catch (const Json::exception& problem) {
    throw Error("{}: cannot be read: {}; remove it to begin anew", file_.string(), problem.what());
  }
}

void Stages::save() const {
  Json json = Json::object();
  for (const auto& [name, stage] : done_) {
    json[name] = {{"complete", stage.complete}, {"seconds", stage.seconds}, {"config", stage.config}};
  }
  write_atomic(file_, json.dump(2) + "\n");
}

bool Stages::run(const std::string& name, const std::string& config, const std::vector<Path>& outputs,
                 const std::function<bool()>& work) {
  Done& stage = done_[name];
  const bool same = stage.config == config && !changed_;
  if (same && stage.complete) {
    log_info("{}: there already ({})", name, format_duration(stage.seconds));
    times_.push_back({name, stage.seconds, true});
    return true;
  }
  if (!same) {
    if (!stage.config.empty()) log_info("{}: its configuration or a stage before it changed, made again", name);
    for (const Path& output : outputs) std::filesystem::remove_all(output);
    stage = {config, 0, false};
    changed_ = true;
  }
  save();
  log_info("--- {}", name);
  const auto start = std::chrono::steady_clock::now();
  const bool complete = work();
  stage.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  stage.complete = complete;
  save();
  times_.push_back({name, stage.seconds, false});
  return complete;
}

}  // namespace crisp::flow
