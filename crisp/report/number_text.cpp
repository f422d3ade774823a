#include "crisp/report/number_text.h"

#include <array>

#include "crisp/base/error.h"

namespace crisp::report {
namespace {

constexpr std::array<NumberText, 13> kTexts{{
    {"miou", "Mean IoU", "Overlap of prediction and truth over their union, mean over classes.", "Regions"},
    {"mdice", "Mean Dice", "Twice the overlap over the sum of both, mean over classes.", "Regions"},
    {"pixel_accuracy", "Pixel accuracy", "Share of scored pixels with the right class.", "Regions"},
    {"mean_accuracy", "Mean accuracy", "Share of each class's pixels that was found, mean over classes.", "Regions"},
    {"boundary_f1", "Boundary F1", "Outlines that match within the tolerance.", "Boundaries and small objects"},
    {"boundary_iou", "Boundary IoU", "IoU of the bands just inside the outlines.", "Boundaries and small objects"},
    {"ece", "Calibration error", "Gap between confidence and accuracy (ECE). Lower is better.", "Confidence"},
    {"small_object_recall", "Small objects", "Share of small objects of which at least half was found.",
     "Boundaries and small objects"},
    {"brier", "Brier score", "Squared error of the probabilities, 0 to 2. Lower is better.", "Confidence"},
    {"nll", "NLL", "Negative log likelihood of the truth. Lower is better.", "Confidence"},
    {"tv_smoothness", "TV smoothness", "1 means no label changes between neighbours.", "Shape"},
    {"compactness", "Compactness", "1 is a disc; frayed masks come near 0.", "Shape"},
    {"edge_regularity", "Sharp turns",
     "Share of outline points that turn sharply (edge regularity). Lower is smoother.", "Shape"},
}};

int digits(const metric::HeadlineField& field) { return field.percent ? 2 : 4; }

}  // namespace

const NumberText& text_of(const metric::HeadlineField& field) {
  for (const NumberText& text : kTexts) {
    if (text.field == field.name) return text;
  }
  throw Error("the number {} has no title", field.name);
}

const metric::HeadlineField& field_named(std::string_view name) {
  for (const metric::HeadlineField& field : metric::kHeadline) {
    if (field.name == name) return field;
  }
  throw Error("there is no number {}", name);
}

std::string format_number(const metric::HeadlineField& field, std::optional<double> value) {
  return value ? fmt::format("{:.{}f}", *value, digits(field)) : "-";
}

std::string format_interval(const metric::HeadlineField& field, std::optional<metric::Interval> interval) {
  if (!interval) return "";
  return fmt::format("{0:.{2}f} - {1:.{2}f}", interval->low, interval->high, digits(field));
}

std::string format_difference(const metric::HeadlineField& field, double difference) {
  return fmt::format("{:+.{}f}", difference, digits(field));
}

std::string format_count(long long count) {
  std::string text = std::to_string(count < 0 ? -count : count);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return count < 0 ? "-" + text : text;
}

}  // namespace crisp::report
