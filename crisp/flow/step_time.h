#pragma once

#include "crisp/flow/pipeline.h"

namespace crisp::flow {

// Seconds of one training step, measured on random pixels: for telling how long a run will take.
struct StepTimes {
  double classifier = 0, student = 0;
  double features = 0;  // of one photo, by a frozen encoder
  double refine = 0;    // of one seed, by one thread
};
StepTimes measure_step_times(const PipelineOptions& options, const ClassNames& classes, int typical_side,
                             torch::Device device);

// Of a whole run, from the times of steps.
struct RunSize {
  double photos = 0, held_out = 0;
};
double seconds_of_run(const PipelineOptions& options, const RunSize& size, const StepTimes& one);

}  // namespace crisp::flow
