#pragma once

#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/metric/accumulator.h"
#include "crisp/report/html.h"

// The parts of the pipeline's page that need masks. Each is empty where nothing was measured.
namespace crisp::report {

// What one step of the pipeline reached against masks: "raw CAM seeds", "relabelled", "student".
struct PipelineScores {
  std::string name;
  std::string images;  // measured on: "train", "held-out"; only steps on the same images are compared
  std::string note;    // "tags known"; may be empty
  metric::Metrics metrics;
};

// The last step that has a mean IoU: what the pipeline is for. Null without one.
const PipelineScores* result_of(const std::vector<PipelineScores>& steps);
// The first step with a mean IoU on the same images, the result itself left out. Null without one.
const PipelineScores* start_of(const std::vector<PipelineScores>& steps);

// The result in one large number, with what it gained over the start.
Html result_number(const std::vector<PipelineScores>& steps);

// Mean IoU of every step as a bar; the steps on one set of images stand together, each with its gain over their first.
Html climb(const std::vector<PipelineScores>& steps);

// The numbers people ask for, side by side with intervals and gauges.
Html scores_table(const std::vector<PipelineScores>& steps);

// IoU of each class, the best first, with its gain over the start.
Html class_gains(const std::vector<PipelineScores>& steps, const ClassNames& names);

// The reliability curve of the last step that has one, with its numbers.
Html confidence(const std::vector<PipelineScores>& steps);

}  // namespace crisp::report
