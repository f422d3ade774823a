#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisp/metric/accumulator.h"

namespace crisp::metric {

// One headline number of two evaluations. Differences are b - a.
struct Difference {
  std::string name;
  double a = 0, b = 0, difference = 0;
  std::optional<Interval> ci95;   // of the difference, paired bootstrap; empty without draws
  std::optional<double> p_value;  // two-sided: that there is no difference
};

struct ClassChange {
  int label = 0;
  double a = 0, b = 0, difference = 0;  // IoU, percent
};

struct ImageChange {
  std::string name;
  double a = 0, b = 0, difference = 0;  // mean IoU of the image's own classes, percent
};

struct Comparison {
  int64_t images = 0;
  std::vector<Difference> numbers;   // those that both evaluations have
  std::vector<ClassChange> classes;  // largest change first
  std::vector<ImageChange> images_by_change;
};

// Two evaluations of the same images: each bootstrap draw takes the same images from both. The p-value is
// twice the smaller share of draws on either side of zero, (count + 1) / (draws + 1), at most 1. Throws Error
// when the images or the options that define a number differ, naming some of them.
Comparison compare(const Accumulator& a, const Accumulator& b, int threads = 0);

}  // namespace crisp::metric
