#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisp/flow/pipeline.h"
#include "crisp/report/pipeline_page.h"

namespace crisp::flow {

struct PipelineReport {
  const PipelineOptions& options;
  const data::Dataset& dataset;
  std::string val;
  std::vector<report::StageTime> times;
};

// The page of a finished run, from its folders: pictures, numbers, curves.
std::string pipeline_report(const PipelineReport& run, torch::Device device);

// The numbers of every step that was measured, in the order of the pipeline.
std::vector<report::PipelineScores> pipeline_scores(const PipelineReport& run);

// What these scores warn of, each with what to do.
std::vector<std::string> warnings_of(const std::vector<report::PipelineScores>& scores);

// The folder of the last round of relabelling in a run, if there was one.
std::optional<Path> last_relabelled(const Path& student_run);

}  // namespace crisp::flow
