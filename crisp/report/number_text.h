#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crisp/metric/bootstrap.h"
#include "crisp/metric/headline.h"

namespace crisp::report {

// How a headline number is called and explained to people.
struct NumberText {
  std::string_view field;    // its name in metric::kHeadline
  std::string_view title;    // "Mean IoU"
  std::string_view meaning;  // one short sentence
  std::string_view group;    // numbers of one group stand together
};

// In the order of metric::kHeadline.
const NumberText& text_of(const metric::HeadlineField& field);

// "63.21" (percent, a unit goes beside it) or "0.9321"; "-" where there is none.
std::string format_number(const metric::HeadlineField& field, std::optional<double> value);
// "61.80 - 64.55"; empty without interval.
std::string format_interval(const metric::HeadlineField& field, std::optional<metric::Interval> interval);
// With its sign: "+1.25".
std::string format_difference(const metric::HeadlineField& field, double difference);

const metric::HeadlineField& field_named(std::string_view name);

// 1234567 -> "1,234,567".
std::string format_count(long long count);

}  // namespace crisp::report
