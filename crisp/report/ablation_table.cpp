#include "crisp/report/ablation_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/report/ablation_cells.h"

namespace crisp::report {
namespace {

// Markdown's own signs lose their meaning; a line break would end the table.
std::string plain_markdown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      if (std::string_view("\\|*_`[]#~$").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

}  // namespace

std::optional<RunSummary> summarize(const std::vector<double>& runs) {
  RunSummary summary;
  double sum = 0;
  for (const double run : runs) {
    if (!std::isfinite(run)) continue;
    sum += run;
    ++summary.count;
  }
  if (summary.count == 0) return std::nullopt;
  const auto count = static_cast<double>(summary.count);
  summary.mean = sum / count;
  if (summary.count == 1) return summary;
  double squares = 0;
  for (const double run : runs) {
    if (std::isfinite(run)) squares += (run - summary.mean) * (run - summary.mean);
  }
  summary.deviation = std::sqrt(squares / (count - 1));
  return summary;
}

AblationCells cells_of(const AblationTable& table) {
  AblationCells cells(table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const AblationRow& from = table.rows[row];
    if (std::max(from.runs.size(), from.paper.size()) > table.columns.size()) {
      throw Error("{}: row {} has {} columns, the table {}", table.title, from.name,
                  std::max(from.runs.size(), from.paper.size()), table.columns.size());
    }
    cells[row].resize(table.columns.size());
    for (size_t column = 0; column < table.columns.size(); ++column) {
      AblationCell& cell = cells[row][column];
      if (column < from.runs.size()) cell.ours = summarize(from.runs[column]);
      if (column < from.paper.size() && from.paper[column] && std::isfinite(*from.paper[column]))
        cell.paper = from.paper[column];
    }
  }
  const std::vector<std::vector<bool>> best = best_cells(table);
  for (size_t column = 0; column < table.columns.size(); ++column) {
    const bool repeated = std::any_of(cells.begin(), cells.end(),
                                      [&](const auto& row) { return row[column].ours && row[column].ours->count > 1; });
    for (size_t row = 0; row < cells.size(); ++row) {
      AblationCell& cell = cells[row][column];
      cell.best = best[row][column];
      cell.fewer = repeated && cell.ours && cell.ours->count < runs_of(cells[row]);
    }
  }
  return cells;
}

std::string figure_text(const AblationColumn& column, double value) {
  const std::string text = fmt::format("{:.{}f}", value, std::clamp(column.digits, 0, 12));
  // A value that rounds to nothing has no sign.
  return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string summary_text(const AblationColumn& column, const AblationCell& cell) {
  if (!cell.ours) return "-";
  std::string text = figure_text(column, cell.ours->mean);
  if (cell.ours->deviation) text += " ± " + figure_text(column, *cell.ours->deviation);
  if (cell.fewer) text += fmt::format(" (n={})", cell.ours->count);
  return text;
}

size_t runs_of(const std::vector<AblationCell>& row) {
  size_t most = 0;
  for (const AblationCell& cell : row) most = std::max(most, cell.ours ? cell.ours->count : 0);
  return most;
}

std::string heading(const AblationColumn& column) {
  return column.unit.empty() ? column.name : column.name + ", " + column.unit;
}

std::vector<std::vector<bool>> best_cells(const AblationTable& table) {
  std::vector<std::vector<bool>> best(table.rows.size(), std::vector<bool>(table.columns.size(), false));
  for (size_t column = 0; column < table.columns.size(); ++column) {
    const AblationColumn& about = table.columns[column];
    if (about.better == Better::kNeither) continue;
    std::optional<double> top;
    std::vector<std::optional<double>> means(table.rows.size());
    size_t measured = 0;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const AblationRow& from = table.rows[row];
      const auto summary = column < from.runs.size() ? summarize(from.runs[column]) : std::nullopt;
      if (!summary) continue;
      means[row] = summary->mean;
      ++measured;
      if (!top || (about.better == Better::kHigher ? summary->mean > *top : summary->mean < *top)) top = summary->mean;
    }
    if (measured < 2) continue;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      best[row][column] = means[row] && figure_text(about, *means[row]) == figure_text(about, *top);
    }
  }
  return best;
}

std::string to_markdown(const AblationTable& table) {
  const AblationCells cells = cells_of(table);
  std::string text = "### " + plain_markdown(table.title) + "\n\n";
  if (!table.note.empty()) text += plain_markdown(table.note) + "\n\n";
  text += "| row | |";
  std::string line = "| --- | --- |";
  for (const AblationColumn& column : table.columns) {
    text += " " + plain_markdown(heading(column)) +
            (column.better == Better::kHigher  ? " ↑"
             : column.better == Better::kLower ? " ↓"
                                               : "") +
            " |";
    line += " ---: |";
  }
  text += " runs |\n" + line + " ---: |\n";
  bool theirs = false;
  for (size_t row = 0; row < cells.size(); ++row) {
    const AblationRow& from = table.rows[row];
    const size_t runs = runs_of(cells[row]);
    text += fmt::format("| {} | {} |", plain_markdown(from.name), plain_markdown(from.description));
    std::string paper;
    bool any = false;
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const AblationCell& cell = cells[row][column];
      const std::string ours = summary_text(table.columns[column], cell);
      text += cell.best ? fmt::format(" **{}** |", ours) : fmt::format(" {} |", ours);
      paper += cell.paper ? fmt::format(" *{}* |", figure_text(table.columns[column], *cell.paper)) : " |";
      any = any || cell.paper.has_value();
    }
    text += runs > 0 ? fmt::format(" {} |\n", runs) : " - |\n";
    if (any) text += fmt::format("| *{}, paper* | *theirs* |{} |\n", plain_markdown(from.name), paper);
    theirs = theirs || any;
  }
  text += "\nMean ± sample deviation over runs; bold: the best of ours.";
  if (theirs) text += " Rows in italics are the paper's own figures, not measured here.";
  return text + "\n";
}

std::string to_csv(const AblationTable& table) {
  const AblationCells cells = cells_of(table);
  std::string text = "table,row,description,column,unit,better,runs,mean,deviation,values,paper\n";
  for (size_t row = 0; row < cells.size(); ++row) {
    const AblationRow& from = table.rows[row];
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const AblationColumn& about = table.columns[column];
      const AblationCell& cell = cells[row][column];
      std::string values;
      if (cell.ours) {
        for (const double run : from.runs[column]) {
          if (std::isfinite(run)) values += fmt::format("{}{}", values.empty() ? "" : " ", run);
        }
      }
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(table.title), csv_field(from.name),
                          csv_field(from.description), csv_field(about.name), csv_field(about.unit),
                          about.better == Better::kHigher  ? "higher"
                          : about.better == Better::kLower ? "lower"
                                                           : "",
                          cell.ours ? cell.ours->count : 0,
                          number(cell.ours ? std::optional(cell.ours->mean) : std::nullopt),
                          number(cell.ours ? cell.ours->deviation : std::nullopt), values, number(cell.paper));
    }
  }
  return text;
}

}  // namespace crisp::report
