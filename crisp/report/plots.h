#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/metric/accumulator.h"
#include "crisp/report/html.h"

// Plots as inline SVG. Colours come from the page's style sheet, so that they follow light and dark.
namespace crisp::report {

// A bar from 0 to `value` of `most`; as wide as its place.
Html bar(double value, double most);

// A number between `low` and `high` with its interval as a band.
Html gauge(double value, std::optional<metric::Interval> interval, double low, double high);

// A difference around 0 with its interval, on the scale -most..most; green or red where the interval leaves
// out 0, by whether more is better.
Html difference_bar(double difference, std::optional<metric::Interval> interval, double most, bool higher_is_better);

// A change as a bar from 0, on the scale -most..most: green up, red down.
Html change_bar(double change, double most);

// Accuracy by confidence with the share of pixels below.
Html reliability_plot(const std::vector<metric::ReliabilityPoint>& points);

// Where the pixels of each truth class went, as shares of its row: the diagonal in one colour, errors in another.
Html confusion_plot(const std::vector<std::vector<int64_t>>& matrix, const ClassNames& names);

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending; what is not finite is left out
};

// Lines over a common x, with axes, round ticks and a legend: learning curves.
Html line_chart(const std::vector<Series>& series, const std::string& x_label, const std::string& y_label);

// Round numbers that cover low..high in about `count` steps; at least two.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace crisp::report
