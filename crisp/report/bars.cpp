#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

std::string number(double value) { return fmt::format("{:.5g}", value); }

// A strip that is stretched to its place: 100 units wide whatever the pixels.
Html strip(const char* kind, int height, std::initializer_list<Html> parts) {
  return tag("svg",
             {{"class", kind},
              {"viewBox", fmt::format("0 0 100 {}", height)},
              {"preserveAspectRatio", "none"},
              {"aria-hidden", "true"}},
             parts);
}

Html rect(const char* kind, double x, double y, double width, double height) {
  return tag("rect", {{"class", kind},
                      {"x", number(x)},
                      {"y", number(y)},
                      {"width", number(std::max(0.0, width))},
                      {"height", number(height)}});
}

}  // namespace

Html bar(double value, double most) {
  const double share = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
  return strip("bar", 10, {rect("track", 0, 0, 100, 10), rect("fill", 0, 0, 100 * share, 10)});
}

Html gauge(double value, std::optional<metric::Interval> interval, double low, double high) {
  const auto at = [&](double v) { return 100 * std::clamp((v - low) / (high - low), 0.0, 1.0); };
  Html range;
  if (interval) range = rect("range", at(interval->low), 2, std::max(0.4, at(interval->high) - at(interval->low)), 4);
  const double place = std::min(at(value), 99.4);
  return strip("gauge", 8, {rect("track", 0, 3, 100, 2), range, rect("fill", place, 0, 0.6, 8)});
}

Html difference_bar(double difference, std::optional<metric::Interval> interval, double most, bool higher_is_better) {
  const auto at = [&](double v) { return 50 + 50 * std::clamp(most > 0 ? v / most : 0, -1.0, 1.0); };
  const bool clear = interval && (interval->low > 0 || interval->high < 0);
  const char* kind = !clear ? "even" : (difference > 0) == higher_is_better ? "plus" : "minus";
  Html range;
  if (interval) range = rect("range", at(interval->low), 3, std::max(0.4, at(interval->high) - at(interval->low)), 4);
  return strip("bar", 10,
               {rect("track", 0, 4, 100, 2), rect("zero", 49.85, 0, 0.3, 10), range,
                rect(kind, std::min(at(difference), 99.2), 0, 0.8, 10)});
}

Html change_bar(double change, double most) {
  const double length = 50 * std::clamp(most > 0 ? std::abs(change) / most : 0, 0.0, 1.0);
  return strip(
      "bar", 10,
      {rect("track", 0, 4, 100, 2), rect(change > 0 ? "plus" : "minus", change > 0 ? 50 : 50 - length, 2, length, 6),
       rect("zero", 49.85, 0, 0.3, 10)});
}

}  // namespace crisp::report
