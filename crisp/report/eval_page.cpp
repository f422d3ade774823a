#include "crisp/report/eval_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "crisp/report/number_text.h"
#include "crisp/report/page.h"
#include "crisp/report/parts.h"
#include "crisp/report/picture.h"
#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

using metric::HeadlineField;
using metric::Metrics;

Html headline(const Metrics& metrics) {
  Html groups;
  for (const char* group : {"Regions", "Boundaries and small objects", "Confidence", "Shape"}) {
    Html numbers;
    for (const HeadlineField& field : metric::kHeadline) {
      if (text_of(field).group == group && metrics.*field.value) numbers += number_block(metrics, field);
    }
    if (numbers.empty()) continue;
    groups += tag("div", {{"class", "card"}}, {tag("h3", {}, {group}), tag("div", {{"class", "numbers"}}, {numbers})});
  }
  return tag("div", {{"class", "groups"}}, {groups});
}

Html both_ways(const Metrics& metrics, const Metrics& left_out) {
  Html rows = tag("tr", {}, {tag("th", {}, {""}), tag("th", {}, {"as background"}), tag("th", {}, {"left out"})});
  for (const char* name : {"miou", "mdice", "pixel_accuracy", "mean_accuracy"}) {
    const HeadlineField& field = field_named(name);
    const auto cell = [&](const Metrics& of) {
      return tag("td", {},
                 {format_number(field, of.*field.value), " ",
                  tag("span", {{"class", "muted optional"}}, {format_interval(field, interval_of(of, field))})});
    };
    rows += tag("tr", {}, {tag("td", {}, {text_of(field).title}), cell(metrics), cell(left_out)});
  }
  return section("Ignored seed pixels, both ways",
                 "Pixels the seeds leave open: counted as background (the numbers above), or left out of the score.",
                 card(tag("div", {{"class", "scroll"}}, {tag("table", {}, {rows})})));
}

Html class_table(const Metrics& metrics, const ClassNames& names) {
  std::vector<const metric::ClassRow*> order;
  for (const metric::ClassRow& row : metrics.per_class) {
    if (row.iou) order.push_back(&row);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return *a->iou > *b->iou; });
  const auto cell = [](std::optional<double> value, const char* kind = "") {
    return tag("td", {{"class", kind}}, {value ? fmt::format("{:.1f}", *value) : "-"});
  };
  Html rows = tag("tr", {},
                  {tag("th", {}, {"class"}), tag("th", {{"class", "wide"}}, {""}), tag("th", {}, {"IoU"}),
                   tag("th", {{"class", "optional"}}, {"Dice"}), tag("th", {{"class", "optional"}}, {"accuracy"}),
                   tag("th", {}, {"boundary F1"}), tag("th", {{"class", "optional"}}, {"pixels"})});
  for (const metric::ClassRow* row : order) {
    const auto label = static_cast<size_t>(row->label);
    rows += tag("tr", {},
                {tag("td", {{"class", "name keyed"}}, {swatch(label), names[label]}),
                 tag("td", {{"class", "wide"}}, {bar(*row->iou, 100)}), cell(row->iou), cell(row->dice, "optional"),
                 cell(row->accuracy, "optional"), cell(row->boundary_f1),
                 tag("td", {{"class", "optional"}}, {format_count(row->pixels)})});
  }
  const size_t absent = metrics.per_class.size() - order.size();
  std::string lead = "Best first, in percent; the bar is the IoU.";
  if (absent > 0)
    lead += fmt::format(" {} of {} classes do not occur in the truth and take no part.", absent, names.size());
  return section("Classes", lead, card(tag("div", {{"class", "scroll"}}, {tag("table", {}, {rows})})));
}

Html worst_confusions(const Metrics& metrics, const ClassNames& names) {
  struct Confused {
    int64_t pixels;
    size_t truth, predicted;
    double share;
  };
  std::vector<Confused> all;
  for (size_t row = 0; row < names.size(); ++row) {
    int64_t sum = 0;
    for (const int64_t pixels : metrics.confusion[row]) sum += pixels;
    for (size_t column = 0; column < names.size(); ++column) {
      const int64_t pixels = metrics.confusion[row][column];
      if (row == column || pixels == 0) continue;
      all.push_back({pixels, row, column, 100.0 * static_cast<double>(pixels) / static_cast<double>(sum)});
    }
  }
  std::sort(all.begin(), all.end(), [](const Confused& a, const Confused& b) {
    return std::tie(b.pixels, a.truth, a.predicted) < std::tie(a.pixels, b.truth, b.predicted);
  });
  if (all.empty()) return tag("p", {{"class", "muted"}}, {"No pixel was taken for another class."});
  Html rows = tag("tr", {},
                  {tag("th", {}, {"truth → prediction"}), tag("th", {}, {"pixels"}), tag("th", {}, {"of the class"})});
  for (size_t i = 0; i < std::min<size_t>(10, all.size()); ++i) {
    rows += tag("tr", {},
                {tag("td", {{"class", "name"}}, {names[all[i].truth], " → ", names[all[i].predicted]}),
                 tag("td", {}, {format_count(all[i].pixels)}), tag("td", {}, {fmt::format("{:.1f}%", all[i].share)})});
  }
  return tag("div", {}, {tag("h3", {}, {"Most pixels lost"}), tag("table", {}, {rows})});
}

Html example_section(const char* title, const char* lead, const std::vector<Example>& examples,
                     const ClassNames& names) {
  if (examples.empty()) return {};
  Html cards;
  for (const Example& example : examples) cards += example_card(example, names);
  Html contents = error_legend();
  contents += tag("div", {{"class", "examples"}}, {cards});
  return section(title, lead, contents);
}

}  // namespace

std::string eval_page(const EvalPage& contents) {
  const Metrics& metrics = contents.metrics;
  Html body = page_header(
      "CrispFormer evaluation", contents.title,
      fmt::format("{} images, {} classes with the background{}.{}", format_count(metrics.images),
                  contents.classes.size(),
                  contents.skipped > 0 ? fmt::format(", {} images skipped", contents.skipped) : "",
                  metrics.ci95.empty() ? "" : " Beside each number its 95% interval (bootstrap over images)."));
  body += headline(metrics);
  if (contents.left_out != nullptr) body += both_ways(metrics, *contents.left_out);
  body += class_table(metrics, contents.classes);
  body += section(
      "Confusion",
      "Where the pixels of each class went, in percent of the class: a row is a truth class, a column "
      "what was predicted. Blue is right, red is wrong.",
      card(tag("div", {{"class", "columns"}},
               {confusion_plot(metrics.confusion, contents.classes), worst_confusions(metrics, contents.classes)})));
  if (!metrics.reliability.empty()) {
    body += section("Reliability",
                    "On the dashed line a pixel predicted with 80% confidence is right in 80% of cases. Below it the "
                    "model is too sure of itself, above it too modest.",
                    card(reliability_plot(metrics.reliability)));
  }
  body += example_section("Worst images", "By the mean IoU of the image's own classes; the worst first.",
                          contents.examples.worst, contents.classes);
  body +=
      example_section("Best images", "By the same number; the best first.", contents.examples.best, contents.classes);
  body += protocol_section(metrics.protocol);
  body += origin_section(contents.command, contents.version, contents.commit);
  return page(contents.title + " - CrispFormer evaluation", body);
}

}  // namespace crisp::report
