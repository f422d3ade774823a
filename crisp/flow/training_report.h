#pragma once

#include <vector>

#include "crisp/base/files.h"
#include "crisp/report/pipeline_page.h"

namespace crisp::flow {

// What a run's log has to show, of `classify` and of `train`.
std::vector<report::PipelineCurves> classifier_curves(const Path& run);
std::vector<report::PipelineCurves> student_curves(const Path& run);

// report.html of a training's run folder, from what lies in it: its curves, and the same few photos as it went on.
void write_training_report(const Path& run);

}  // namespace crisp::flow
