#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crisp/flow/train_student.h"
#include "crisp/metric/headline.h"
#include "crisp/report/ablation_table.h"

namespace crisp::flow {

// One row of a table of the paper: how its student differs from the method's own, and the paper's figures.
struct GridRow {
  std::string name, description;
  std::string key;  // of its runs; rows of several tables that mean the same student share them
  std::function<void(StudentOptions&)> change;
  std::vector<std::optional<double>> paper;  // in the order of the columns
};

struct GridColumn {
  report::AblationColumn column;
  std::optional<double> metric::Headline::* value = nullptr;
  bool multi_scale = false;  // measured with scales and flips
  bool on_train = false;     // measured on the photos learned from
};

struct Grid {
  std::string title, note;
  std::vector<GridColumn> columns;
  std::vector<GridRow> rows;
};

// "components", "uncertainty", "seeds", "robustness", "fusion", "smoothness", "boundary". `seed_folders` are the rows
// of "seeds", by name. The table "cost" needs no training: see ablate.h.
Grid grid_of(const std::string& table, const std::vector<std::pair<std::string, Path>>& seed_folders);
const std::vector<std::string>& grid_names();

}  // namespace crisp::flow
