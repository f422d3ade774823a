#include "crisp/report/pipeline_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crisp/report/page.h"
#include "crisp/report/parts.h"

namespace crisp::report {
namespace {

constexpr size_t kPoints = 240;  // of a curve: more than a chart of this size can show

Html use_it(const PipelinePage& contents) {
  if (contents.predict_command.empty() && contents.outputs.empty()) return {};
  Html all = tag("h3", {}, {"Use it"});
  if (!contents.predict_command.empty()) all += tag("pre", {{"class", "take"}}, {contents.predict_command});
  Html list;
  for (const auto& [name, path] : contents.outputs) {
    list += tag("dt", {}, {name});
    list += tag("dd", {}, {tag("code", {}, {path})});
  }
  if (!list.empty()) all += tag("dl", {}, {list});
  return tag("div", {{"class", "use"}}, {all});
}

Html hero(const PipelinePage& contents) {
  const Html number = result_number(contents.scores), use = use_it(contents);
  if (number.empty() && use.empty()) return {};
  return tag("div", {{"class", number.empty() || use.empty() ? "card hero" : "card hero both"}}, {number, use});
}

Html scores_section(const PipelinePage& contents) {
  const Html steps = climb(contents.scores), table = scores_table(contents.scores);
  if (steps.empty() && table.empty()) return {};
  bool intervals = false;
  for (const PipelineScores& step : contents.scores) intervals = intervals || !step.metrics.ci95.empty();
  std::string lead = "Mean IoU after each step, and what it gained over the first one on the same images.";
  if (intervals) lead += " In small print the 95% intervals (bootstrap over images).";
  return section("From step to step", lead, tag("div", {{"class", "groups"}}, {steps, table}));
}

Html notes_section(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  Html items;
  for (const std::string& note : notes) items += tag("li", {}, {note});
  return section("How to read this", "", card(tag("ul", {}, {items})));
}

Html curves_section(const std::vector<PipelineCurves>& curves) {
  Html charts;
  for (const PipelineCurves& one : curves) {
    std::vector<Series> series;
    for (const Series& line : one.series) {
      series.push_back(thinned(line, kPoints));
      if (series.back().points.empty()) series.pop_back();
    }
    if (series.empty()) continue;
    charts += tag("div", {{"class", "card chart"}},
                  {tag("h3", {}, {one.title}), line_chart(series, one.x_label, one.y_label)});
  }
  if (charts.empty()) return {};
  return section("As it learned", "", tag("div", {{"class", "charts"}}, {charts}));
}

Html times_section(const std::vector<StageTime>& times) {
  if (times.empty()) return {};
  double total = 0, most = 0;
  size_t reused = 0;
  for (const StageTime& stage : times) {
    const double seconds = std::isfinite(stage.seconds) ? std::max(0.0, stage.seconds) : 0;
    most = std::max(most, seconds);
    total += stage.reused ? 0 : seconds;
    reused += stage.reused ? 1 : 0;
  }
  Html rows;
  for (const StageTime& stage : times) {
    rows += tag("tr", {{"class", stage.reused ? "reused" : ""}},
                {tag("td", {{"class", "name"}}, {stage.name}),
                 tag("td", {{"class", "wide"}}, {bar(std::isfinite(stage.seconds) ? stage.seconds : 0, most)}),
                 tag("td", {}, {duration_text(stage.seconds)}),
                 tag("td", {{"class", "muted"}}, {stage.reused ? "kept from before" : ""})});
  }
  std::string lead = duration_text(total) + " in all.";
  if (reused > 0) {
    lead += fmt::format(
        " {} of {} stages were there already; their time is that of the run which made them, and not in the sum.",
        reused, times.size());
  }
  return section("Time", lead, card(tag("div", {{"class", "scroll"}}, {tag("table", {{"class", "times"}}, {rows})})));
}

Html origin(const PipelinePage& contents) {
  Html made;
  if (!contents.command.empty()) made += tag("pre", {{"class", "take"}}, {contents.command});
  if (!contents.version.empty()) {
    made += tag("p", {{"class", "muted"}}, {"CrispFormer " + contents.version + ", commit " + contents.commit + "."});
  }
  if (!contents.config.empty()) {
    made += tag("details", {}, {tag("summary", {}, {"Every option, as TOML"}), tag("pre", {}, {contents.config})});
  }
  return made.empty() ? Html() : section("How this was made", "", card(made));
}

}  // namespace

Series thinned(const Series& series, size_t most) {
  Series out{.name = series.name, .points = {}};
  std::vector<std::pair<double, double>> points;
  for (const auto& point : series.points) {
    if (std::isfinite(point.first) && std::isfinite(point.second)) points.push_back(point);
  }
  const size_t count = std::min(points.size(), std::max<size_t>(most, 1));
  for (size_t i = 0; i < count; ++i) {
    const size_t from = i * points.size() / count, to = (i + 1) * points.size() / count;
    double x = 0, y = 0;
    for (size_t k = from; k < to; ++k) {
      x += points[k].first / static_cast<double>(to - from);
      y += points[k].second / static_cast<double>(to - from);
    }
    out.points.emplace_back(x, y);
  }
  return out;
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::min(seconds, 1e15) + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const long long minutes = (whole + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string pipeline_page(const PipelinePage& contents) {
  Html body = page_header("CrispFormer run", contents.title, contents.lead);
  body += facts_list(contents.facts);
  body += hero(contents);
  body += scores_section(contents);
  body += notes_section(contents.notes);
  if (!contents.path.empty()) {
    body += section(contents.path_title, contents.path_lead, picture_sheet(contents.path, contents.classes));
  }
  body += curves_section(contents.curves);
  if (!contents.scale_weights.empty()) {
    body += section(
        "Which scale speaks where",
        "The share each of the four feature maps has at a pixel; they add up to 1. Fine maps draw outlines, coarse "
        "ones tell classes apart.",
        picture_sheet(contents.scale_weights, contents.classes));
  }
  body += confidence(contents.scores);
  body += class_gains(contents.scores, contents.classes);
  body += times_section(contents.times);
  body += origin(contents);
  return page(contents.title + " - CrispFormer run", body);
}

}  // namespace crisp::report
