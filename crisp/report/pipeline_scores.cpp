#include "crisp/report/pipeline_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "crisp/report/number_text.h"
#include "crisp/report/page.h"
#include "crisp/report/parts.h"
#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

using metric::HeadlineField;
using Steps = std::vector<PipelineScores>;

constexpr std::array<const char*, 6> kShown{"miou",          "mdice", "boundary_f1", "small_object_recall",
                                            "tv_smoothness", "ece"};

// The sets of images in the order they are met, each with its steps.
std::vector<std::vector<const PipelineScores*>> by_images(const Steps& steps) {
  std::vector<std::vector<const PipelineScores*>> groups;
  for (const PipelineScores& step : steps) {
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group[0]->images == step.images; });
    if (same == groups.end()) {
      groups.push_back({&step});
    } else {
      same->push_back(&step);
    }
  }
  return groups;
}

std::string images_text(const PipelineScores& step) {
  const int64_t count = step.metrics.images;
  if (count == 0) return step.images;
  return fmt::format("{} ({} {})", step.images, format_count(count), count == 1 ? "image" : "images");
}

Html gain(double from, double to) {
  const std::string text = fmt::format("{:+.1f}", to - from);
  const bool even = text == "+0.0" || text == "-0.0";
  return tag("span", {{"class", even ? "gain" : to > from ? "gain up" : "gain down"}}, {even ? "±0.0" : text});
}

Html name_and_note(const PipelineScores& step) {
  Html both = step.name;
  if (!step.note.empty()) both += tag("span", {{"class", "aside"}}, {step.note});
  return both;
}

Html climb_step(const PipelineScores& step, const PipelineScores* first, bool last) {
  const auto interval = interval_of(step.metrics, field_named("miou"));
  Html value = fmt::format("{:.1f}", *step.metrics.miou);
  value += tag("span", {{"class", "unit"}}, {"%"});
  return tag("div", {{"class", last ? "step last" : "step"}},
             {tag("div", {{"class", "what"}}, {name_and_note(step)}), bar(*step.metrics.miou, 100),
              tag("div", {{"class", "value"}}, {value}),
              first == nullptr ? tag("span", {{"class", "gain"}}) : gain(*first->metrics.miou, *step.metrics.miou),
              tag("span", {{"class", "interval"}},
                  {interval ? fmt::format("{:.1f} – {:.1f}", interval->low, interval->high) : ""})});
}

// One digit less than an evaluation's page: steps are far apart, and the table is wide.
int digits(const HeadlineField& field) { return field.percent ? 1 : 3; }

Html score_cell(const PipelineScores& step, const HeadlineField& field) {
  const std::optional<double> value = step.metrics.*field.value;
  if (!value) return tag("td", {{"class", "muted"}}, {"-"});
  Html cell = fmt::format("{:.{}f}", *value, digits(field));
  cell += bar(*value, field.percent ? 100 : 1);
  if (const auto interval = interval_of(step.metrics, field)) {
    cell += tag("span", {{"class", "aside"}},
                {fmt::format("{0:.{2}f} – {1:.{2}f}", interval->low, interval->high, digits(field))});
  }
  return tag("td", {}, {cell});
}

// A class's IoU in another step; nothing where it is not known there.
std::optional<double> iou_in(const PipelineScores* step, int label) {
  if (step == nullptr) return std::nullopt;
  for (const metric::ClassRow& row : step->metrics.per_class) {
    if (row.label == label) return row.iou;
  }
  return std::nullopt;
}

}  // namespace

const PipelineScores* result_of(const Steps& steps) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->metrics.miou) return &*step;
  }
  return nullptr;
}

const PipelineScores* start_of(const Steps& steps) {
  const PipelineScores* result = result_of(steps);
  if (result == nullptr) return nullptr;
  for (const PipelineScores& step : steps) {
    if (&step != result && step.metrics.miou && step.images == result->images) return &step;
  }
  return nullptr;
}

Html result_number(const Steps& steps) {
  const PipelineScores* result = result_of(steps);
  if (result == nullptr) return {};
  const PipelineScores* start = start_of(steps);
  const HeadlineField& field = field_named("miou");
  const auto interval = interval_of(result->metrics, field);
  Html value = fmt::format("{:.1f}", *result->metrics.miou);
  value += tag("span", {{"class", "unit"}}, {"%"});
  if (interval) {
    value += tag("span", {{"class", "interval"}}, {fmt::format("{:.1f} – {:.1f}", interval->low, interval->high)});
  }
  Html below;
  if (start != nullptr) {
    below = tag(
        "p", {{"class", "meaning"}},
        {gain(*start->metrics.miou, *result->metrics.miou), " points against " + start->name + " on the same images"});
  }
  return tag(
      "div", {{"class", "number result"}},
      {tag("h3", {}, {"Mean IoU"}), tag("div", {{"class", "title"}}, {result->name + ", " + images_text(*result)}),
       tag("div", {{"class", "value"}}, {value}), below});
}

Html climb(const Steps& steps) {
  Html groups;
  for (const auto& group : by_images(steps)) {
    Html bars;
    const PipelineScores* first = nullptr;
    for (const PipelineScores* step : group) {
      if (!step->metrics.miou) continue;
      bars += climb_step(*step, first, step == group.back());
      if (first == nullptr) first = step;
    }
    if (first != nullptr) groups += tag("div", {{"class", "climb"}}, {tag("h3", {}, {images_text(*first)}), bars});
  }
  return groups.empty() ? Html() : card(groups);
}

Html scores_table(const Steps& steps) {
  std::vector<const HeadlineField*> fields;
  for (const char* name : kShown) {
    const HeadlineField& field = field_named(name);
    if (std::any_of(steps.begin(), steps.end(), [&](const auto& step) { return step.metrics.*field.value; }))
      fields.push_back(&field);
  }
  if (fields.empty()) return {};
  Html head = tag("th", {}, {""});
  for (const HeadlineField* field : fields) {
    Html title = text_of(*field).title;
    if (field->percent) title += ", %";
    if (!field->higher_is_better) title += tag("span", {{"class", "aside"}}, {"lower is better"});
    head += tag("th", {}, {title});
  }
  Html rows = tag("tr", {}, {head});
  const auto groups = by_images(steps);
  for (const auto& group : groups) {
    if (groups.size() > 1) {
      rows += tag("tr", {{"class", "group"}},
                  {tag("td", {{"colspan", std::to_string(fields.size() + 1)}}, {images_text(*group[0])})});
    }
    for (const PipelineScores* step : group) {
      Html cells = tag("td", {{"class", "name"}}, {name_and_note(*step)});
      for (const HeadlineField* field : fields) cells += score_cell(*step, *field);
      rows += tag("tr", {{"class", step == group.back() ? "last" : ""}}, {cells});
    }
  }
  return card(tag("div", {{"class", "scroll"}}, {tag("table", {{"class", "scores"}}, {rows})}));
}

Html class_gains(const Steps& steps, const ClassNames& names) {
  const PipelineScores* result = result_of(steps);
  const PipelineScores* start = start_of(steps);
  if (start != nullptr && start->metrics.per_class.empty()) start = nullptr;
  std::vector<const metric::ClassRow*> order;
  if (result != nullptr) {
    for (const metric::ClassRow& row : result->metrics.per_class) {
      if (row.iou && row.label >= 0 && static_cast<size_t>(row.label) < names.size()) order.push_back(&row);
    }
  }
  if (order.empty()) return {};
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return *a->iou > *b->iou; });
  Html head = tag("th", {}, {"class"});
  head += tag("th", {{"class", "wide"}}, {""});
  head += tag("th", {}, {result->name});
  if (start != nullptr) {
    head += tag("th", {}, {start->name});
    head += tag("th", {}, {"gain"});
  }
  Html rows = tag("tr", {}, {head});
  for (const metric::ClassRow* row : order) {
    const auto label = static_cast<size_t>(row->label);
    Html cells = tag("td", {{"class", "name keyed"}}, {swatch(label & 0xFF), names[label]});
    cells += tag("td", {{"class", "wide"}}, {bar(*row->iou, 100)});
    cells += tag("td", {}, {fmt::format("{:.1f}", *row->iou)});
    if (start != nullptr) {
      const std::optional<double> before = iou_in(start, row->label);
      cells += tag("td", {{"class", "muted"}}, {before ? fmt::format("{:.1f}", *before) : "-"});
      cells += tag("td", {}, {before ? gain(*before, *row->iou) : Html("-")});
    }
    rows += tag("tr", {}, {cells});
  }
  return section(
      "Class by class",
      fmt::format("IoU in percent, {}; the best first, the bar is that of {}.", images_text(*result), result->name),
      card(tag("div", {{"class", "scroll"}}, {tag("table", {}, {rows})})));
}

Html confidence(const Steps& steps) {
  const auto sure =
      std::find_if(steps.rbegin(), steps.rend(), [](const auto& step) { return !step.metrics.reliability.empty(); });
  if (sure == steps.rend()) return {};
  Html numbers;
  for (const char* name : {"ece", "brier", "nll"}) {
    const HeadlineField& field = field_named(name);
    if (sure->metrics.*field.value) numbers += number_block(sure->metrics, field);
  }
  return section(
      "Can its confidence be trusted?",
      fmt::format("{}, {}. On the dashed line a pixel predicted with 80% confidence is right in 80% of cases. "
                  "Below it the model is too sure of itself, above it too modest.",
                  sure->name, images_text(*sure)),
      card(tag("div", {{"class", "beside"}},
               {reliability_plot(sure->metrics.reliability), tag("div", {{"class", "stacked"}}, {numbers})})));
}

}  // namespace crisp::report
