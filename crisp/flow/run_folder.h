#pragma once

#include <string>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/base/folder_lock.h"

namespace crisp::flow {

// What stands in a run folder's run.json, for programs and for people who find the folder later.
struct RunFacts {
  std::string task;     // "classify", "affinity", "segment"
  std::string command;  // as typed
  std::string data, split;
  ClassNames classes;
  bool complete = false;
  double seconds = 0;
  std::string labels;       // segment: "seeds", or "masks (fully supervised)"
  std::string selected_by;  // segment: "last step", or the score on masks that chose the model
};

RunFacts read_run(const Path& folder);
bool is_run_folder(const Path& folder);

// Begins or goes on with a run (docs/formats.md): makes the folder, keeps other processes out of it as long as this
// object lives, writes config.toml and run.json. A folder that holds a run already is an Error unless `resume`.
class RunFolder {
 public:
  RunFolder(Path folder, RunFacts facts, const std::string& config, bool resume);

  const Path& path() const { return folder_; }
  void finish(double seconds);

 private:
  void write() const;

  Path folder_;
  RunFacts facts_;
  FolderLock lock_;
};

}  // namespace crisp::flow
