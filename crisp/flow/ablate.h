#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisp/flow/train_student.h"
#include "crisp/report/ablation_table.h"

namespace crisp::flow {

struct AblateOptions {
  std::string table = "components";
  std::vector<std::string> rows;                           // by name; empty: all
  int64_t runs = 3;                                        // trainings a row, with seeds 0, 1, ...
  std::vector<std::pair<std::string, Path>> seed_folders;  // the first is what other tables learn from
  StudentOptions student;                                  // what all rows share
  std::string val = "auto";
  Path out;
  int threads = 2;
  std::string command, config;
  int size = 512;  // of the table "cost"
};

// A table of the paper as a grid of trainings below OUT/runs, each resumed or skipped when it is there, measured on
// the held-out photos. Writes OUT/TABLE.md, .csv and .html. Nothing is returned when `stop` ended it early.
std::optional<report::AblationTable> ablate(const AblateOptions& options, torch::Device device,
                                            const std::function<bool()>& stop);

}  // namespace crisp::flow
