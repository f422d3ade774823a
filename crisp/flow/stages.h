#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "crisp/base/files.h"
#include "crisp/report/pipeline_page.h"

namespace crisp::flow {

// The stages of a run in order, each with the configuration its output was made with, kept in OUT/stages.json.
class Stages {
 public:
  explicit Stages(Path out);

  // Runs `work` unless its output was made by the same `config` and every stage before it was left as it is too; a
  // changed stage's folders are removed first. False when `work` says it was ended early.
  bool run(const std::string& name, const std::string& config, const std::vector<Path>& outputs,
           const std::function<bool()>& work);

  const std::vector<report::StageTime>& times() const { return times_; }

 private:
  struct Done {
    std::string config;
    double seconds = 0;
    bool complete = false;
  };
  void save() const;

  const Path file_;
  std::map<std::string, Done> done_;
  bool changed_ = false;  // from here on everything is made again
  std::vector<report::StageTime> times_;
};

}  // namespace crisp::flow
