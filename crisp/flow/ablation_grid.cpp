#include "crisp/flow/ablation_grid.h"

#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::flow {
namespace {

using metric::Headline;
using report::Better;

constexpr const char* kTheirs =
    "The paper's figures are for MiT-B5 on PASCAL VOC 2012 at full size; they are theirs, not measured here.";

GridColumn percent(const char* name, std::optional<double> Headline::* value, Better better = Better::kHigher) {
  return {.column = {.name = name, .unit = "%", .better = better, .digits = 2}, .value = value};
}

GridColumn plain(const char* name, std::optional<double> Headline::* value, Better better, bool on_train = false) {
  return {.column = {.name = name, .unit = "", .better = better, .digits = 4}, .value = value, .on_train = on_train};
}

GridColumn multi_scale_miou() {
  GridColumn column = percent("mIoU MS+F", &Headline::miou);
  column.multi_scale = true;
  return column;
}

GridRow component(const char* row, const char* what, std::vector<std::optional<double>> paper) {
  return {row, what, std::string(row) + "-U4", [row](StudentOptions& o) { o.ablation = row; }, std::move(paper)};
}

Grid components() {
  const auto none = std::nullopt;
  return {
      "Components",
      fmt::format("Each row adds one part; same seeds, width and share of dropped pixels, EMA weights. {}", kTheirs),
      {percent("mIoU", &Headline::miou), multi_scale_miou(), percent("mDice", &Headline::mdice),
       percent("boundary F1", &Headline::boundary_f1), percent("ECE", &Headline::ece, Better::kLower)},
      {component("A0", "SegFormer head", {72.3, 73.6, none, none, none}),
       component("A1", "+ dynamic fusion", {73.1, 74.5, none, none, none}),
       component("A2", "+ variance head, its loss and weighting", {74.3, 75.9, none, none, none}),
       component("A3", "+ uncertainty-guided refiner", {75.0, 76.5, none, none, none}),
       component("A4", "+ boundary head", {76.4, 77.7, none, none, none}),
       component("A5", "+ uncertainty-modulated fusion", {76.9, 78.1, none, none, none}),
       component("A6", "+ relabelling", {78.2, 79.0, none, none, none})}};
}

Grid uncertainty() {
  const auto row = [](const char* name, const char* what, std::vector<std::optional<double>> paper) {
    return GridRow{name, what, std::string("A6-") + name, [name](StudentOptions& o) { o.uncertainty = name; },
                   std::move(paper)};
  };
  return {"Uncertainty",
          fmt::format("All rows relabel, each with its own sources. {}", kTheirs),
          {percent("mIoU", &Headline::miou), percent("ECE", &Headline::ece, Better::kLower)},
          {row("U0", "none", {74.9, 9.0}), row("U1", "entropy", {75.6, 7.7}), row("U2", "aleatoric", {76.3, 6.8}),
           row("U3", "aleatoric and entropy", {77.1, 5.9}), row("U4", "and epistemic, in relabelling", {78.2, 4.8})}};
}

Grid robustness() {
  const auto row = [](const char* name, const char* key, std::function<void(StudentOptions&)> change) {
    return GridRow{name, "", key, std::move(change), {}};
  };
  return {"Robustness",
          "The paper reports changes of at most 0.3 mIoU and 0.2 ECE for these rows.",
          {percent("mIoU", &Headline::miou), percent("ECE", &Headline::ece, Better::kLower)},
          {row("default", "A6-U4", [](StudentOptions&) {}),
           row("relabelling x0.75", "A6-U4-cadence0.75", [](StudentOptions& o) { o.task.relabel.every *= 0.75; }),
           row("relabelling x1.25", "A6-U4-cadence1.25", [](StudentOptions& o) { o.task.relabel.every *= 1.25; }),
           row("dropout 0.05", "A6-U4-dropout0.05", [](StudentOptions& o) { o.dropout = 0.05; }),
           row("dropout 0.15", "A6-U4-dropout0.15", [](StudentOptions& o) { o.dropout = 0.15; }),
           row("temperature 0.7", "A6-U4-temperature0.7", [](StudentOptions& o) { o.temperature = 0.7; }),
           row("temperature 1.3", "A6-U4-temperature1.3", [](StudentOptions& o) { o.temperature = 1.3; })}};
}

Grid fusion() {
  const auto row = [](const char* name, const char* word) {
    return GridRow{name, "", std::string("A6-U4-") + word, [word](StudentOptions& o) { o.fusion = word; }, {}};
  };
  Grid grid{"Fusion",
            "How the four scales become one map; everything else as in A6 (without modulation where there are no "
            "weights to modulate).",
            {percent("mIoU", &Headline::miou), percent("mDice", &Headline::mdice),
             percent("boundary F1", &Headline::boundary_f1), percent("small objects", &Headline::small_object_recall)},
            {row("concatenation", "concat"), row("mean", "mean"), row("DMF", "dmf")}};
  grid.rows[2].key = "A6-U4";
  return grid;
}

Grid smoothness() {
  const auto none = std::nullopt;
  return {"Smoothness",
          fmt::format("Of the predicted masks, on the photos learned from and on those held out. {}", kTheirs),
          {plain("TV train", &Headline::tv_smoothness, Better::kHigher, true),
           plain("TV val", &Headline::tv_smoothness, Better::kHigher),
           plain("compactness train", &Headline::compactness, Better::kHigher, true),
           plain("compactness val", &Headline::compactness, Better::kHigher),
           plain("edges train", &Headline::edge_regularity, Better::kLower, true),
           plain("edges val", &Headline::edge_regularity, Better::kLower)},
          {component("A0", "SegFormer head", {}),
           component("A6", "CrispFormer", {0.9375, 0.9350, none, none, none, none})}};
}

Grid boundary() {
  return {"Boundary and region",
          kTheirs,
          {percent("boundary F1", &Headline::boundary_f1), percent("boundary IoU", &Headline::boundary_iou),
           percent("mDice", &Headline::mdice), percent("mIoU", &Headline::miou)},
          {component("A0", "SegFormer head", {73.2, std::nullopt, 78.9, 77.4}),
           component("A6", "CrispFormer", {76.4, std::nullopt, 80.5, 79.8})}};
}

Grid seeds(const std::vector<std::pair<std::string, Path>>& folders) {
  Grid grid{"Seed sources",
            "The paper: CAM 77.3 mIoU and 79.6 boundary F1, with affinity 77.8 and 80.4 (MiT-B5, VOC 2012); theirs.",
            {percent("mIoU", &Headline::miou), percent("boundary F1", &Headline::boundary_f1)},
            {}};
  for (const auto& [name, folder] : folders) {
    grid.rows.push_back(
        {name, folder.string(), "A6-U4-seeds-" + name, [folder = folder](StudentOptions& o) { o.seeds = folder; }, {}});
  }
  return grid;
}

}  // namespace

const std::vector<std::string>& grid_names() {
  static const std::vector<std::string> names = {"components", "uncertainty", "seeds",    "robustness",
                                                 "fusion",     "smoothness",  "boundary", "cost"};
  return names;
}

Grid grid_of(const std::string& table, const std::vector<std::pair<std::string, Path>>& seed_folders) {
  if (table == "components") return components();
  if (table == "uncertainty") return uncertainty();
  if (table == "seeds") return seeds(seed_folders);
  if (table == "robustness") return robustness();
  if (table == "fusion") return fusion();
  if (table == "smoothness") return smoothness();
  if (table == "boundary") return boundary();
  throw UsageError("--table {}: it is one of {}", table, join(grid_names(), ", "));
}

}  // namespace crisp::flow
