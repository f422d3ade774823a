#include "crisp/base/classes.h"

#include <fmt/format.h>

#include <map>

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "crisp/base/text.h"

namespace crisp {

const ClassNames& voc_classes() {
  static const ClassNames names = {"background", "aeroplane", "bicycle",   "bird",   "boat",        "bottle",
                                   "bus",        "car",       "cat",       "chair",  "cow",         "diningtable",
                                   "dog",        "horse",     "motorbike", "person", "pottedplant", "sheep",
                                   "sofa",       "train",     "tvmonitor"};
  return names;
}

bool has_background(const ClassNames& classes) { return classes.empty() || classes[0] != kNoBackground; }

std::vector<int> allowed_labels(const std::vector<int>& tags, bool background) {
  std::vector<int> labels(background ? 1 : 0);
  labels.insert(labels.end(), tags.begin(), tags.end());
  return labels;
}

ClassNames read_classes(const std::string& number_or_file) {
  if (number_or_file == "voc") return voc_classes();
  if (const auto count = parse_integer(number_or_file)) {
    if (*count < 2 || *count > 255) {
      throw UsageError("--classes {}: a number of classes is between 2 and 255, the background counted", *count);
    }
    ClassNames names = {"background"};
    for (int64_t i = 1; i < *count; ++i) names.push_back(fmt::format("class {}", i));
    return names;
  }
  const std::vector<std::string> lines = split_lines(read_text(number_or_file));
  ClassNames names;
  std::map<std::string, size_t> first_line;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string name = trim(lines[i]);
    if (name.empty()) throw Error("{}: line {} is empty: one class name a line", number_or_file, i + 1);
    if (const auto [at, fresh] = first_line.emplace(name, i + 1); !fresh) {
      throw Error("{}: class '{}' stands on line {} and again on line {}", number_or_file, name, at->second, i + 1);
    }
    names.push_back(name);
  }
  if (names.size() < 2) {
    throw Error("{}: {} class name(s): at least two are needed, the first being the background", number_or_file,
                names.size());
  }
  if (names.size() > 255) throw Error("{}: {} classes: at most 255 fit an 8-bit mask", number_or_file, names.size());
  return names;
}

}  // namespace crisp
