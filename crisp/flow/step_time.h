#pragma once

#include "crisp/flow/pipeline.h"

namespace crisp::flow {

// Seconds of one training step, measured on random pixels: for telling how long a run will take.
struct StepTimes {
  double classifier = 0, student = 0;
  double features = 0;  // of one photo, by a frozen encoder
};
StepTimes measure_step_times(const PipelineOptions& options, const ClassNames& classes, torch::Device device);

}  // namespace crisp::flow
