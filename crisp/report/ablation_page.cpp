#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crisp/report/ablation_cells.h"
#include "crisp/report/html.h"
#include "crisp/report/page.h"
#include "crisp/report/parts.h"

namespace crisp::report {
namespace {

struct Scale {
  double low = 0, high = 0;
  bool known = false;

  void add(double value) {
    low = known ? std::min(low, value) : value;
    high = known ? std::max(high, value) : value;
    known = true;
  }
  // A place in a strip 100 wide, clear of its ends; halves first, as the difference of huge numbers may overflow.
  double at(double value) const {
    const double width = high / 2 - low / 2;
    return width > 0 ? 6 + 88 * std::clamp((value / 2 - low / 2) / width, 0.0, 1.0) : 50;
  }
};

// Of our runs alone: the paper's figures are often far off, and all of ours would be one dot.
Scale scale_of(const AblationTable& table, const AblationCells& cells, size_t column) {
  Scale scale;
  for (size_t row = 0; row < cells.size(); ++row) {
    if (!cells[row][column].ours) continue;
    for (const double run : table.rows[row].runs[column]) {
      if (std::isfinite(run)) scale.add(run);
    }
  }
  return scale;
}

// A dot a run, a line for their mean.
Html dots(const AblationColumn& about, double mean, const std::vector<double>& runs, const Scale& scale) {
  const std::string x = fmt::format("{:.1f}", scale.at(mean));
  Html parts = tag("line", {{"class", "axis"}, {"x1", "0"}, {"x2", "100"}, {"y1", "6"}, {"y2", "6"}});
  parts += tag("line", {{"class", "curve"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", "12"}});
  for (const double run : runs) {
    if (!std::isfinite(run)) continue;
    parts += tag("circle", {{"class", "dot"}, {"cx", fmt::format("{:.1f}", scale.at(run))}, {"cy", "6"}, {"r", "3"}},
                 {tag("title", {}, {figure_text(about, run)})});
  }
  return tag("svg", {{"class", "dots"}, {"viewBox", "0 0 100 12"}, {"aria-hidden", "true"}}, {parts});
}

Html cell_html(const AblationTable& table, const AblationCells& cells, size_t row, size_t column, const Scale& scale) {
  const AblationColumn& about = table.columns[column];
  const AblationCell& cell = cells[row][column];
  if (!cell.ours && !cell.paper) return tag("td", {{"class", "muted"}}, {"-"});
  Html figure = cell.ours ? figure_text(about, cell.ours->mean) : "-";
  if (cell.best) figure = tag("b", {}, {figure});
  if (cell.ours && cell.ours->deviation) {
    figure += tag("span", {{"class", "spread"}}, {" ± " + figure_text(about, *cell.ours->deviation)});
  }
  if (cell.fewer) {
    figure += tag("span", {{"class", "spread"}}, {fmt::format(" (n={})", cell.ours->count)});
  }
  if (cell.ours) figure += dots(about, cell.ours->mean, table.rows[row].runs[column], scale);
  if (cell.paper) figure += tag("span", {{"class", "aside"}}, {"paper " + figure_text(about, *cell.paper)});
  return tag("td", {}, {figure});
}

Html whole_table(const AblationTable& table, const AblationCells& cells) {
  std::vector<Scale> scales;
  Html head = tag("th", {}, {""});
  for (size_t column = 0; column < table.columns.size(); ++column) {
    const AblationColumn& about = table.columns[column];
    scales.push_back(scale_of(table, cells, column));
    Html title = heading(about);
    if (about.better == Better::kLower) title += tag("span", {{"class", "aside"}}, {"lower is better"});
    head += tag("th", {}, {title});
  }
  head += tag("th", {}, {"runs"});
  Html rows = tag("tr", {}, {head});
  for (size_t row = 0; row < cells.size(); ++row) {
    Html name = tag("b", {}, {table.rows[row].name});
    name += tag("span", {{"class", "aside"}}, {table.rows[row].description});
    Html line = tag("td", {{"class", "name"}}, {name});
    for (size_t column = 0; column < table.columns.size(); ++column) {
      line += cell_html(table, cells, row, column, scales[column]);
    }
    const size_t runs = runs_of(cells[row]);
    line += tag("td", {{"class", "muted"}}, {runs > 0 ? std::to_string(runs) : "-"});
    rows += tag("tr", {}, {line});
  }
  return tag("div", {{"class", "scroll"}}, {tag("table", {{"class", "ablation"}}, {rows})});
}

}  // namespace

std::string to_html(const AblationTable& table) {
  const AblationCells cells = cells_of(table);
  bool theirs = false;
  for (const auto& row : cells) {
    for (const AblationCell& cell : row) theirs = theirs || cell.paper.has_value();
  }
  Html body = page_header("CrispFormer ablation", table.title, table.note);
  Html key = tag("span", {}, {"mean ± sample deviation over runs"});
  key += tag("span", {}, {tag("b", {}, {"bold"}), ": the best of ours"});
  key += tag("span", {}, {tag("span", {{"class", "swatch round"}}), "a run of ours"});
  if (theirs) key += tag("span", {}, {"paper: their own figure, not measured here"});
  body += tag("section", {}, {tag("div", {{"class", "chips spaced"}}, {key}), card(whole_table(table, cells))});
  if (!table.command.empty()) body += origin_section(table.command, table.version, table.commit);
  return page(table.title + " - CrispFormer ablation", body);
}

}  // namespace crisp::report
