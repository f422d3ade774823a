#include "crisp/data/tags.h"

#include <algorithm>
#include <array>
#include <set>

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/base/text.h"

namespace crisp::data {

std::optional<int> class_of(const std::string& tag, const ClassNames& classes) {
  if (const auto named = std::find(classes.begin(), classes.end(), tag); named != classes.end()) {
    return static_cast<int>(named - classes.begin());
  }
  const auto number = parse_integer(tag);
  if (!number || *number < 0 || *number >= static_cast<int64_t>(classes.size())) return std::nullopt;
  return static_cast<int>(*number);
}

bool take_no_background(std::vector<TagLine>& lines) {
  return std::erase_if(lines, [](const TagLine& line) {
           return line.name + (line.tags.empty() ? "" : " " + join(line.tags, " ")) == kNoBackground;
         }) > 0;
}

ClassNames classes_from_tags(const std::vector<TagLine>& lines, const Path& source, bool background) {
  std::set<std::string> names;
  int64_t highest = 0;
  bool only_numbers = true;
  for (const TagLine& line : lines) {
    for (const std::string& tag : line.tags) {
      if (tag == "background" || tag == "0") continue;
      names.insert(tag);
      const auto number = parse_integer(tag);
      only_numbers = only_numbers && number && *number > 0;
      if (only_numbers) highest = std::max(highest, *number);
    }
  }
  ClassNames classes = {background ? "background" : kNoBackground};
  if (names.empty()) return classes;
  if (names.size() > 254 || (only_numbers && highest > 254)) {
    throw Error("{}: {} different tags, the highest {}: 254 classes fit an 8-bit mask; list those meant in classes.txt",
                source.string(), names.size(), *names.rbegin());
  }
  if (only_numbers) {
    for (int64_t i = 1; i <= highest; ++i) classes.push_back(fmt::format("class {}", i));
  } else {
    classes.insert(classes.end(), names.begin(), names.end());
  }
  return classes;
}

void tag_sample(Sample& sample, std::vector<int> classes) {
  const std::set<int> sorted(classes.begin(), classes.end());
  sample.tags.assign(sorted.upper_bound(0), sorted.end());
  sample.has_tags = true;
}

void apply_tags(const std::vector<TagLine>& lines, const Path& source, const NameIndex& names, Dataset& dataset) {
  const std::string file = source.filename().string();
  for (const TagLine& line : lines) {
    std::vector<int> classes;
    bool known = true;
    for (const std::string& tag : line.tags) {
      const auto number = class_of(tag, dataset.classes);
      if (number) {
        classes.push_back(*number);
      } else {
        std::vector<std::string>& unknown = dataset.findings.unknown_tags;
        const bool is_folder_name = line.line == 0;
        std::string where =
            is_folder_name ? fmt::format("folder '{}'", tag) : fmt::format("{} line {}: '{}'", file, line.line, tag);
        if (unknown.empty() || unknown.back() != where) unknown.push_back(std::move(where));
        known = false;
      }
    }
    size_t place = NameIndex::kNone;
    try {
      place = names.find(line.name);
    } catch (const Error& error) {
      throw Error("{}: line {}: {}", source.string(), line.line, error.what());
    }
    if (place == NameIndex::kNone) {
      dataset.findings.tags_without_image.push_back(line.name);
    } else if (!line.tags.empty() && (known || !classes.empty())) {
      Sample& sample = dataset.all[place];
      classes.insert(classes.end(), sample.tags.begin(), sample.tags.end());  // an image may have several lines
      tag_sample(sample, std::move(classes));
    }
  }
}

void tags_from_masks(Dataset& dataset, int threads) {
  parallel_for(static_cast<int64_t>(dataset.all.size()), threads, [&](int64_t i) {
    Sample& sample = dataset.all[static_cast<size_t>(i)];
    if (!sample.has_mask()) return;
    std::array<bool, 256> seen{};
    for (const uint8_t label : dataset.read_mask(sample).labels) seen[label] = true;
    std::vector<int> classes;
    for (int label = 1; label < image::kIgnore; ++label) {
      if (seen[static_cast<size_t>(label)]) classes.push_back(label);
    }
    tag_sample(sample, std::move(classes));
  });
}

}  // namespace crisp::data
