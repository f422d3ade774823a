#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace crisp::report {

enum class Better { kHigher, kLower, kNeither };

struct AblationColumn {
  std::string name;  // "mIoU"
  std::string unit;  // "%", "ms"; may be empty
  Better better = Better::kHigher;
  int digits = 1;  // after the point
};

struct AblationRow {
  std::string name;         // "A3"
  std::string description;  // "+ uncertainty-guided refinement"; may be empty
  // [column][run]: what each run reached. A column without runs, or missing at the end, was not measured; a run that is
  // not finite (it failed) is left out and not counted.
  std::vector<std::vector<double>> runs;
  std::vector<std::optional<double>> paper;  // [column]: the paper's own figure; may end early
};

// A table of the paper, remade: rows are variants, columns numbers. The paper's figures stand beside ours, marked as
// theirs; they take no part in what is best.
struct AblationTable {
  std::string title, note;
  std::vector<AblationColumn> columns;
  std::vector<AblationRow> rows;
  std::string command, version, commit;  // for the HTML page; may be empty
};

// Mean and sample deviation sqrt(sum (x - mean)^2 / (n - 1)) of the finite runs; no deviation for one run.
struct RunSummary {
  size_t count = 0;
  double mean = 0;
  std::optional<double> deviation;
};
// Nothing without a finite run.
std::optional<RunSummary> summarize(const std::vector<double>& runs);

// Of each row and column: whether ours is the best of its column as it is printed, so that equal figures are equally
// bold. Nobody is with fewer than two rows to compare, or in a column where neither direction is better.
std::vector<std::vector<bool>> best_cells(const AblationTable& table);

// All three throw Error for a row with more columns than the table. Mean ± deviation, the number of runs in a column of
// its own (a cell that has fewer says so, unless all of its column have one), the best of ours bold, "-" for what was
// not measured.
std::string to_markdown(const AblationTable& table);
// For programs, a line for each row and column: table,row,description,column,unit,better,runs,mean,deviation,values,
// paper. Numbers as they are, not rounded; `values` are the finite runs between spaces; empty where there is none.
std::string to_csv(const AblationTable& table);
// A page that needs nothing but itself; under each figure its runs as dots, on one scale a column, and what the paper
// has there.
std::string to_html(const AblationTable& table);

}  // namespace crisp::report
