#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/flow/evaluate_truth.h"
#include "crisp/metric/accumulator.h"
#include "crisp/report/showcase.h"

namespace crisp::flow {

struct SkippedSample {
  std::string name, reason;
};

// What evaluating gave, by masks of a folder or by a model: everything that the output folder is made from.
struct Evaluation {
  ClassNames classes;
  metric::Accumulator scores;

  // Seeds: the same with the pixels that the prediction ignores left out of the truth (regions only: the outline
  // of a mask with holes says nothing).
  std::optional<metric::Accumulator> left_out;
  int64_t ignored_pixels = 0, pixels = 0;  // of the predictions, over all images

  std::vector<std::string> notes;  // choices beyond metric::Options, in words; they join the protocol
  std::vector<SkippedSample> skipped;
  report::Examples examples;
};

// The examples' photos, shrunk, read from `truth.photos`. One that cannot be read stays empty.
void add_example_photos(report::Examples& examples, const Truth& truth);

// Options with K, and the ignored label checked against it: the truth must be able to tell them apart.
metric::Options with_classes(metric::Options options, const ClassNames& classes);

// Images in the report.
constexpr size_t kBestShown = 4, kWorstShown = 8;

}  // namespace crisp::flow
