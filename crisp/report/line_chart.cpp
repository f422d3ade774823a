#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

constexpr double kLeft = 52, kTop = 10, kWidth = 560, kHeight = 240;
constexpr size_t kColours = 6;
constexpr size_t kFew = 20;  // up to so many points are marked: one alone would make no line

std::string number(double value) { return fmt::format("{:.1f}", value); }

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool usable(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

std::string colour(size_t index) { return fmt::format("var(--s{})", index % kColours + 1); }

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low)) return {low, low + 1};
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double candidate : {1.0, 2.0, 2.5, 5.0}) {
    if (candidate * power >= rough * 0.999) {
      step = candidate * power;
      break;
    }
  }
  std::vector<double> ticks;
  const auto first = static_cast<int64_t>(std::floor(low / step + 1e-9));
  const auto last = static_cast<int64_t>(std::ceil(high / step - 1e-9));
  for (int64_t i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

Html line_chart(const std::vector<Series>& series, const std::string& x_label, const std::string& y_label) {
  Range xs, ys;
  for (const Series& one : series) {
    for (const auto& point : one.points) {
      if (!usable(point)) continue;
      xs.add(point.first);
      ys.add(point.second);
    }
  }
  if (!(xs.low <= xs.high)) return tag("p", {{"class", "muted"}}, {"No values yet."});
  if (xs.low == xs.high) xs.high = xs.low + 1;
  const std::vector<double> x_ticks = round_ticks(xs.low, xs.high, 6), y_ticks = round_ticks(ys.low, ys.high, 5);
  const auto x_of = [&](double x) { return kLeft + kWidth * (x - xs.low) / (xs.high - xs.low); };
  const auto y_of = [&](double y) {
    return kTop + kHeight * (1 - (y - y_ticks.front()) / (y_ticks.back() - y_ticks.front()));
  };
  Html all, legend;
  for (const double y : y_ticks) {
    all += tag("line", {{"class", "axis"},
                        {"x1", number(kLeft)},
                        {"x2", number(kLeft + kWidth)},
                        {"y1", number(y_of(y))},
                        {"y2", number(y_of(y))}});
    all += tag("text", {{"class", "end"}, {"x", number(kLeft - 6)}, {"y", number(y_of(y) + 4)}},
               {fmt::format("{:.4g}", y)});
  }
  for (const double x : x_ticks) {
    if (x < xs.low || x > xs.high) continue;
    all += tag("text", {{"class", "middle"}, {"x", number(x_of(x))}, {"y", number(kTop + kHeight + 16)}},
               {fmt::format("{:.6g}", x)});
  }
  all += tag("text", {{"class", "middle"}, {"x", number(kLeft + kWidth / 2)}, {"y", number(kTop + kHeight + 34)}},
             {x_label});
  all +=
      tag("text", {{"class", "middle"}, {"transform", fmt::format("translate(12 {}) rotate(-90)", kTop + kHeight / 2)}},
          {y_label});
  for (size_t i = 0; i < series.size(); ++i) {
    std::string path;
    Html dots;
    for (const auto& point : series[i].points) {
      if (!usable(point)) continue;
      const std::string x = number(x_of(point.first)), y = number(y_of(point.second));
      path += fmt::format("{}{} {}", path.empty() ? "M" : " L", x, y);
      if (series[i].points.size() > kFew) continue;
      dots += tag("circle", {{"cx", x}, {"cy", y}, {"r", "3"}, {"style", "fill:" + colour(i)}},
                  {tag("title", {}, {fmt::format("{}: {:.4g}", series[i].name, point.second)})});
    }
    if (!path.empty()) all += tag("path", {{"class", "curve"}, {"style", "stroke:" + colour(i)}, {"d", path}});
    all += dots;
    legend +=
        tag("span", {}, {tag("span", {{"class", "swatch"}, {"style", "background:" + colour(i)}}), series[i].name});
  }
  return tag("div", {},
             {tag("div", {{"class", "chips"}}, {legend}),
              tag("div", {{"class", "scroll"}},
                  {tag("svg",
                       {{"class", "plot"},
                        {"viewBox", fmt::format("0 0 {} {}", kLeft + kWidth + 12, kTop + kHeight + 42)},
                        {"style", "min-width:480px"},
                        {"role", "img"},
                        {"aria-label", y_label + " over " + x_label}},
                       {all})})});
}

}  // namespace crisp::report
