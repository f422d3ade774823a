#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crisp/report/number_text.h"
#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

constexpr double kLetter = 6.8;          // width of a letter at 11 px, generously
constexpr double kSmallestShare = 5e-4;  // what would be invisible is not drawn
constexpr size_t kLongestName = 18;

std::string number(double value) { return fmt::format("{:.1f}", value); }

// Cut between characters, not inside one.
std::string shortened(const std::string& name) {
  size_t letters = 0, end = 0;
  while (end < name.size() && letters < kLongestName) {
    ++end;
    while (end < name.size() && (name[end] & 0xC0) == 0x80) ++end;
    ++letters;
  }
  return end < name.size() ? name.substr(0, end) + "…" : name;
}

double width_of(const ClassNames& names) {
  size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, std::min(name.size(), kLongestName + 1));
  return kLetter * static_cast<double>(longest) + 8;
}

}  // namespace

Html confusion_plot(const std::vector<std::vector<int64_t>>& matrix, const ClassNames& names) {
  ClassNames columns = names;
  const bool unlabelled = std::any_of(matrix.begin(), matrix.end(),
                                      [&](const auto& row) { return row.size() > names.size() && row.back() > 0; });
  if (unlabelled) columns.emplace_back("no class");
  std::vector<size_t> rows;
  std::vector<int64_t> sums(matrix.size());
  for (size_t row = 0; row < matrix.size(); ++row) {
    for (const int64_t pixels : matrix[row]) sums[row] += pixels;
    if (sums[row] > 0) rows.push_back(row);
  }
  const double count = static_cast<double>(columns.size());
  const double cell = std::clamp(std::floor(500 / count), 10.0, 44.0);
  const double left = width_of(names), top = 0.8 * width_of(columns) + 4;
  const double width = left + cell * count + 0.62 * width_of(columns),
               height = top + cell * static_cast<double>(rows.size()) + 4;
  const bool numbered = cell >= 20;

  Html all;
  for (size_t column = 0; column < columns.size(); ++column) {
    const double x = left + cell * (static_cast<double>(column) + 0.5);
    all += tag("text", {{"transform", fmt::format("translate({} {}) rotate(-52)", number(x + 3), number(top - 4))}},
               {shortened(columns[column])});
  }
  for (size_t line = 0; line < rows.size(); ++line) {
    const size_t row = rows[line];
    const double y = top + cell * static_cast<double>(line);
    all += tag("text", {{"class", "end"}, {"x", number(left - 6)}, {"y", number(y + cell / 2 + 4)}},
               {shortened(names[row])});
    all += tag("rect", {{"class", "track"},
                        {"x", number(left)},
                        {"y", number(y + 0.5)},
                        {"width", number(cell * count)},
                        {"height", number(cell - 1)},
                        {"fill-opacity", "0.45"}});
    for (size_t column = 0; column < columns.size(); ++column) {
      const double share = static_cast<double>(matrix[row][column]) / static_cast<double>(sums[row]);
      if (share < kSmallestShare) continue;
      const bool hit = row == column;
      // Errors are small shares: their square root keeps them visible.
      const double depth = hit ? 0.15 + 0.85 * share : std::min(1.0, 1.15 * std::sqrt(share));
      const double x = left + cell * static_cast<double>(column);
      all += tag("rect",
                 {{"class", hit ? "hit" : "miss"},
                  {"x", number(x + 0.5)},
                  {"y", number(y + 0.5)},
                  {"width", number(cell - 1)},
                  {"height", number(cell - 1)},
                  {"fill-opacity", fmt::format("{:.2f}", depth)}},
                 {tag("title", {},
                      {fmt::format("{}: {:.2f}% predicted as {} ({} pixels)", names[row], 100 * share, columns[column],
                                   format_count(matrix[row][column]))})});
      if (!numbered || share < 0.01) continue;
      all += tag("text",
                 {{"class", depth > 0.55 ? "middle on" : "middle strong"},
                  {"x", number(x + cell / 2)},
                  {"y", number(y + cell / 2 + 4)},
                  {"pointer-events", "none"}},
                 {fmt::format("{:.0f}", 100 * share)});
    }
  }
  return tag("div", {{"class", "scroll"}},
             {tag("svg",
                  {{"class", "plot"},
                   {"viewBox", fmt::format("0 0 {} {}", number(width), number(height))},
                   {"style",
                    fmt::format("min-width:{}px;max-width:{}px", std::lround(0.85 * width), std::lround(1.25 * width))},
                   {"role", "img"},
                   {"aria-label", "Confusion between classes"}},
                  {all})});
}

}  // namespace crisp::report
