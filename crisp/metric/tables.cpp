#include "crisp/metric/tables.h"

#include "crisp/base/error.h"

namespace crisp::metric {
namespace {

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  quoted += "\"";
  return quoted;
}

std::string cell(std::optional<double> value) { return value ? fmt::format("{:.6f}", *value) : std::string(); }

void check_names(const Metrics& metrics, const ClassNames& names) {
  if (names.size() == metrics.per_class.size()) return;
  throw Error("{} class names were given for {} classes", names.size(), metrics.per_class.size());
}

}  // namespace

std::string per_class_csv(const Metrics& metrics, const ClassNames& names) {
  check_names(metrics, names);
  std::string text = "label,name,iou,dice,accuracy,boundary_f1,boundary_iou,pixels\n";
  for (const ClassRow& row : metrics.per_class) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{}\n", row.label, cell(names[static_cast<size_t>(row.label)]), cell(row.iou),
                    cell(row.dice), cell(row.accuracy), cell(row.boundary_f1), cell(row.boundary_iou), row.pixels);
  }
  return text;
}

std::string per_image_csv(const Accumulator& accumulator) {
  std::string text = "image";
  for (const HeadlineField& field : kHeadline) text += fmt::format(",{}", field.name);
  text += "\n";
  for (const auto& [name, image] : accumulator.images()) {
    const Headline numbers = image_headline(image, accumulator.options());
    text += cell(name);
    for (const HeadlineField& field : kHeadline) text += fmt::format(",{}", cell(numbers.*field.value));
    text += "\n";
  }
  return text;
}

std::string confusion_csv(const Metrics& metrics, const ClassNames& names) {
  check_names(metrics, names);
  std::string text = "truth \\ prediction";
  for (const std::string& name : names) text += fmt::format(",{}", cell(name));
  text += ",without a class\n";
  for (size_t row = 0; row < names.size(); ++row) {
    text += cell(names[row]);
    for (const int64_t pixels : metrics.confusion[row]) text += fmt::format(",{}", pixels);
    text += "\n";
  }
  return text;
}

}  // namespace crisp::metric
