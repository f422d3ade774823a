#include <fmt/format.h>

#include <algorithm>

#include "crisp/report/number_text.h"
#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

// The square of the curve and the strip of counts below it, in the plot's own units.
constexpr double kLeft = 44, kTop = 10, kSide = 300, kStripTop = kTop + kSide + 14, kStrip = 56;
constexpr double kWidth = kLeft + kSide + 12, kHeight = kStripTop + kStrip + 38;

std::string number(double value) { return fmt::format("{:.2f}", value); }

double x_of(double share) { return kLeft + kSide * share; }
double y_of(double share) { return kTop + kSide * (1 - share); }

Html text(double x, double y, const char* kind, const std::string& words) {
  return tag("text", {{"x", number(x)}, {"y", number(y)}, {"class", kind}}, {words});
}

Html rect(const char* kind, double x, double y, double width, double height, const std::string& title) {
  return tag(
      "rect",
      {{"class", kind}, {"x", number(x)}, {"y", number(y)}, {"width", number(width)}, {"height", number(height)}},
      {tag("title", {}, {title})});
}

Html axes() {
  Html all;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    all += tag("line", {{"class", "axis"},
                        {"x1", number(kLeft)},
                        {"x2", number(kLeft + kSide)},
                        {"y1", number(y_of(share))},
                        {"y2", number(y_of(share))}});
    all += text(kLeft - 6, y_of(share) + 4, "end", fmt::format("{:.0f}", 100 * share));
    all += text(x_of(share), kStripTop + kStrip + 15, "middle", fmt::format("{:.0f}", 100 * share));
  }
  all += tag("line", {{"class", "dashed"},
                      {"x1", number(x_of(0))},
                      {"y1", number(y_of(0))},
                      {"x2", number(x_of(1))},
                      {"y2", number(y_of(1))}});
  all += text(x_of(0.5), kHeight - 6, "middle", "confidence, %");
  all +=
      tag("text", {{"class", "middle"}, {"transform", fmt::format("translate(12 {}) rotate(-90)", kTop + kSide / 2)}},
          {"accuracy, %"});
  all += tag("text",
             {{"class", "middle"}, {"transform", fmt::format("translate(12 {}) rotate(-90)", kStripTop + kStrip / 2)}},
             {"pixels"});
  return all;
}

}  // namespace

Html reliability_plot(const std::vector<metric::ReliabilityPoint>& points) {
  int64_t all_pixels = 0, most = 1;
  for (const metric::ReliabilityPoint& point : points) {
    all_pixels += point.pixels;
    most = std::max(most, point.pixels);
  }
  Html gaps, counts, dots;
  std::string path;
  for (const metric::ReliabilityPoint& point : points) {
    if (!point.confidence || !point.accuracy) continue;
    const double share = static_cast<double>(point.pixels) / static_cast<double>(std::max<int64_t>(1, all_pixels));
    const std::string title =
        fmt::format("confidence {:.1f}%, accuracy {:.1f}%, {} pixels ({:.1f}%)", 100 * *point.confidence,
                    100 * *point.accuracy, format_count(point.pixels), 100 * share);
    const double width = kSide * (point.high - point.low);
    const double high = std::max(*point.confidence, *point.accuracy),
                 low = std::min(*point.confidence, *point.accuracy);
    gaps += rect("gap", x_of(point.low) + 0.5, y_of(high), width - 1, kSide * (high - low), title);
    const double tall = kStrip * static_cast<double>(point.pixels) / static_cast<double>(most);
    counts += rect("range", x_of(point.low) + 0.5, kStripTop + kStrip - tall, width - 1, tall, title);
    const std::string x = number(x_of(*point.confidence)), y = number(y_of(*point.accuracy));
    path += fmt::format("{}{} {}", path.empty() ? "M" : " L", x, y);
    dots += tag("circle", {{"class", "dot"}, {"cx", x}, {"cy", y}, {"r", "3.5"}}, {tag("title", {}, {title})});
  }
  return tag("svg",
             {{"class", "plot reliability"},
              {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)},
              {"role", "img"},
              {"aria-label", "Accuracy of the pixels by their confidence"}},
             {axes(), gaps, counts, path.empty() ? Html() : tag("path", {{"class", "curve"}, {"d", path}}), dots});
}

}  // namespace crisp::report
