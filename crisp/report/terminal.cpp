#include "crisp/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "crisp/report/number_text.h"

namespace crisp::report {
namespace {

using Row = std::vector<std::string>;

// Columns a terminal shows: bytes that do not continue a UTF-8 character.
size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// First column to the left, the others to the right, under a heading.
std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = row[0] + std::string(widths[0] - columns(row[0]), ' ');
    for (size_t i = 1; i < row.size(); ++i) line += std::string(2 + widths[i] - columns(row[i]), ' ') + row[i];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string cell(std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

std::string unit(const metric::HeadlineField& field) { return field.percent ? "%" : ""; }

}  // namespace

std::string to_text(const metric::Metrics& metrics, const ClassNames& names, const metric::Metrics* left_out) {
  std::vector<Row> classes = {{"class", "IoU", "Dice", "accuracy", "boundary F1", "pixels"}};
  for (const metric::ClassRow& row : metrics.per_class) {
    if (row.pixels == 0) continue;
    classes.push_back({names[static_cast<size_t>(row.label)], cell(row.iou), cell(row.dice), cell(row.accuracy),
                       cell(row.boundary_f1), format_count(row.pixels)});
  }
  std::vector<Row> numbers = {{"number", "value", "", "95% interval"}};
  if (left_out != nullptr) numbers[0].insert(numbers[0].end(), {"ignored left out", "95% interval"});
  const auto interval = [](const metric::Metrics& of, const metric::HeadlineField& field) {
    const auto found = of.ci95.find(std::string(field.name));
    return found == of.ci95.end() ? std::string() : format_interval(field, found->second);
  };
  for (const metric::HeadlineField& field : metric::kHeadline) {
    if (!(metrics.*field.value)) continue;
    Row row = {std::string(field.name), format_number(field, metrics.*field.value), unit(field),
               interval(metrics, field)};
    if (left_out != nullptr) {
      const auto other = left_out->*field.value;
      row.push_back(other ? format_number(field, other) : "");
      row.push_back(other ? interval(*left_out, field) : "");
    }
    numbers.push_back(std::move(row));
  }
  return fmt::format("{}\n{}\n{} images\n", table(classes), table(numbers), format_count(metrics.images));
}

std::string to_text(const metric::Comparison& comparison, const ClassNames& names, size_t most) {
  std::vector<Row> numbers = {{"number", "A", "B", "B - A", "95% interval", "p"}};
  for (const metric::Difference& one : comparison.numbers) {
    const metric::HeadlineField& field = field_named(one.name);
    std::string interval;
    if (one.ci95) {
      interval =
          fmt::format("{} .. {}", format_difference(field, one.ci95->low), format_difference(field, one.ci95->high));
    }
    numbers.push_back({one.name, format_number(field, one.a), format_number(field, one.b),
                       format_difference(field, one.difference), interval,
                       one.p_value ? fmt::format("{:.3f}", *one.p_value) : ""});
  }
  std::string text = table(numbers);
  std::vector<Row> classes = {{"classes that changed most", "IoU A", "IoU B", "B - A"}};
  for (const metric::ClassChange& one : comparison.classes) {
    if (classes.size() > most || one.difference == 0) break;
    classes.push_back(
        {names[static_cast<size_t>(one.label)], cell(one.a), cell(one.b), fmt::format("{:+.2f}", one.difference)});
  }
  std::vector<Row> images = {{"images that changed most", "mIoU A", "mIoU B", "B - A"}};
  for (const metric::ImageChange& one : comparison.images_by_change) {
    if (images.size() > most || one.difference == 0) break;
    images.push_back({one.name, cell(one.a), cell(one.b), fmt::format("{:+.2f}", one.difference)});
  }
  if (classes.size() > 1) text += "\n" + table(classes);
  if (images.size() > 1) text += "\n" + table(images);
  return text + fmt::format("\n{} images in both; p: two-sided, that there is no difference\n",
                            format_count(comparison.images));
}

}  // namespace crisp::report
