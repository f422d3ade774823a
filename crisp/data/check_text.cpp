#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "crisp/base/text.h"
#include "crisp/data/check.h"

namespace crisp::data {
namespace {

void add(std::vector<std::string>& lines, const std::vector<std::string>& names, std::string_view what) {
  if (!names.empty()) lines.push_back(fmt::format("{} {}: {}", names.size(), what, join_some(names, 5)));
}

// Columns a terminal shows: bytes that do not continue a UTF-8 character.
size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, columns(text)), ' ');
}

// Left-aligned first column, right-aligned others.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("  {}", pad(row[0], widths[0]));
    for (size_t i = 1; i < row.size(); ++i) text += std::string(2 + widths[i] - columns(row[i]), ' ') + row[i];
    text += '\n';
  }
  return text;
}

std::string split_table(const CheckReport& report) {
  std::vector<std::vector<std::string>> rows = {{"split", "images", "tagged", "masks"}};
  const auto row = [](const std::string& name, size_t images, size_t tagged, size_t masked) {
    return std::vector<std::string>{name, std::to_string(images), std::to_string(tagged), std::to_string(masked)};
  };
  for (const CheckReport::Split& split : report.splits) {
    rows.push_back(row(split.name, split.images, split.tagged, split.masked));
  }
  rows.push_back(row("all", report.images, report.tagged, report.masked));
  return table(rows);
}

std::string class_table(const CheckReport& report) {
  const int64_t pixels = std::accumulate(report.mask_pixels.begin(), report.mask_pixels.end(), report.ignored_pixels);
  std::vector<std::vector<std::string>> rows = {{"class"}};
  for (const CheckReport::Split& split : report.splits) rows[0].push_back(split.name);
  if (pixels > 0) rows[0].push_back("mask area");
  const auto area = [&](int64_t count) {
    return fmt::format("{:.2f}%", 100.0 * static_cast<double>(count) / static_cast<double>(pixels));
  };
  for (size_t label = 0; label < report.classes.size(); ++label) {
    std::vector<std::string> row = {fmt::format("{} {}", label, report.classes[label])};
    for (const CheckReport::Split& split : report.splits) row.push_back(std::to_string(split.tagged_with[label]));
    if (pixels > 0) row.push_back(area(report.mask_pixels[label]));
    rows.push_back(std::move(row));
  }
  if (report.ignored_pixels > 0) {
    std::vector<std::string> row(rows[0].size());
    row.front() = "255 ignored";
    row.back() = area(report.ignored_pixels);
    rows.push_back(std::move(row));
  }
  return table(rows);
}

std::string list(std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  return fmt::format("{}\n  {}\n", heading, join(lines, "\n  "));
}

}  // namespace

std::vector<std::string> CheckReport::problems() const {
  std::vector<std::string> lines;
  if (nothing_known) lines.push_back("neither tags nor masks: tags.txt, tags.csv, sub-folders or masks/ would tell");
  add(lines, unreadable, "files that cannot be read");
  add(lines, findings.bad_lists, "tag files that cannot be read");
  add(lines, findings.unknown_tags, "unknown tags");
  add(lines, findings.tags_without_image, "tags for images that are not there");
  add(lines, findings.split_without_image, "images in split lists that are not there");
  add(lines, findings.listed_twice, "names twice in a split list");
  add(lines, empty_splits, "empty splits");
  add(lines, untagged, "images without tags");
  add(lines, size_differs, "masks of another size than their image");
  return lines;
}

std::vector<std::string> CheckReport::notes() const {
  std::vector<std::string> lines;
  if (compared > 0 && not_in_mask.empty() && not_in_tags.empty()) {
    lines.push_back(fmt::format("tags and masks agree on all {} images that have both", compared));
  }
  add(lines, not_in_mask, "tags without a pixel in the mask");
  add(lines, not_in_tags, "classes in a mask that are not tagged");
  add(lines, never_tagged, "classes that no image is tagged with");
  add(lines, same_photo, "photos that are the same file twice");
  add(lines, in_train_and_val, "images in train and in val");
  return lines;
}

std::string to_text(const CheckReport& report) {
  std::string text = fmt::format("{}: {} data set, {} images, {} classes\n", report.root.string(),
                                 to_string(report.kind), report.images, report.classes.size());
  if (report.width.high > 0) {
    text +=
        fmt::format("width {} to {} (median {}), height {} to {} (median {})\n", report.width.low, report.width.high,
                    report.width.median, report.height.low, report.height.high, report.height.median);
  }
  text += fmt::format("\n{}\n{}\n", split_table(report), class_table(report));
  text += list("problems:", report.problems()) + list("notes:", report.notes());
  if (report.ok()) text += "nothing wrong\n";
  return text;
}

}  // namespace crisp::data
