#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace crisp::metric {

// The numbers of a report; empty where they cannot be computed (never NaN).
struct Headline {
  std::optional<double> miou, mdice, pixel_accuracy, mean_accuracy;   // percent
  std::optional<double> boundary_f1, boundary_iou;                    // percent
  std::optional<double> ece;                                          // percent, lower is better
  std::optional<double> small_object_recall;                          // percent
  std::optional<double> brier, nll;                                   // 0..2 and 0.., lower is better
  std::optional<double> tv_smoothness, compactness, edge_regularity;  // -1..1, 0..1, 0..1 (lower is smoother)

  bool operator==(const Headline&) const = default;
};

struct HeadlineField {
  std::string_view name;
  std::optional<double> Headline::* value;
  bool higher_is_better;
  bool percent;
};

// The same numbers by name, for whoever treats them alike.
inline constexpr std::array<HeadlineField, 13> kHeadline{{
    {"miou", &Headline::miou, true, true},
    {"mdice", &Headline::mdice, true, true},
    {"pixel_accuracy", &Headline::pixel_accuracy, true, true},
    {"mean_accuracy", &Headline::mean_accuracy, true, true},
    {"boundary_f1", &Headline::boundary_f1, true, true},
    {"boundary_iou", &Headline::boundary_iou, true, true},
    {"ece", &Headline::ece, false, true},
    {"small_object_recall", &Headline::small_object_recall, true, true},
    {"brier", &Headline::brier, false, false},
    {"nll", &Headline::nll, false, false},
    {"tv_smoothness", &Headline::tv_smoothness, true, false},
    {"compactness", &Headline::compactness, true, false},
    {"edge_regularity", &Headline::edge_regularity, false, false},
}};

}  // namespace crisp::metric
