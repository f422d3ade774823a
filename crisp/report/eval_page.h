#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/compare.h"
#include "crisp/report/showcase.h"

namespace crisp::report {

// Everything the page of an evaluation shows. Borrowed, not copied.
struct EvalPage {
  std::string title;
  const metric::Metrics& metrics;
  const ClassNames& classes;
  const metric::Metrics* left_out = nullptr;  // seeds: without their ignored pixels
  const Examples& examples;
  int64_t skipped = 0;
  std::string command, version, commit;
};

// A page that needs nothing but itself: numbers with intervals, classes, confusion, reliability, the best and
// worst images, the protocol in words.
std::string eval_page(const EvalPage& contents);

struct ComparePage {
  std::string title, name_a, name_b;
  const metric::Comparison& comparison;
  const ClassNames& classes;
  std::string command, version, commit;
};

// The same for two evaluations: differences with intervals, classes and images that changed most.
std::string compare_page(const ComparePage& contents);

}  // namespace crisp::report
