#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisp/report/ablation_table.h"

// What the forms of an ablation table share.
namespace crisp::report {

struct AblationCell {
  std::optional<RunSummary> ours;
  std::optional<double> paper;
  bool best = false;
  bool fewer = false;  // runs than the row has elsewhere; not in a column that is measured once by its nature
};
using AblationCells = std::vector<std::vector<AblationCell>>;  // [row][column]

// Throws Error for a row with more columns than the table.
AblationCells cells_of(const AblationTable& table);

// Runs of the row's fullest cell.
size_t runs_of(const std::vector<AblationCell>& row);

std::string heading(const AblationColumn& column);                    // "mIoU, %"
std::string figure_text(const AblationColumn& column, double value);  // "61.3"
// "61.3 ± 0.4 (n=2)"
std::string summary_text(const AblationColumn& column, const AblationCell& cell);

}  // namespace crisp::report
