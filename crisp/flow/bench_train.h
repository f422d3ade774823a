#pragma once

#include <functional>

#include "crisp/flow/bench.h"
#include "crisp/model/segmenter.h"

namespace crisp::flow {

// One step of training, as often as it is called: forward, every loss of the row, backward, clipping, AdamW and the
// teacher's mean, on pixels and labels drawn once. Returns when the device is done.
std::function<void()> training_step(const BenchOptions& options, const model::SegmenterConfig& config);

}  // namespace crisp::flow
