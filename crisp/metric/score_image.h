#pragma once

#include <string>

#include "crisp/image/image.h"
#include "crisp/metric/calibration.h"
#include "crisp/metric/options.h"
#include "crisp/metric/scores.h"

namespace crisp::metric {

// Everything the set's numbers need from one image. Pure: call it from as many threads as you like.
// Throws Error, naming `name`, when the masks differ in size, are empty, or hold a label that is no class.
ImageScores score_image(const std::string& name, const image::Mask& truth, const image::Mask& prediction,
                        const Options& options, const Certainty& certainty = {});

}  // namespace crisp::metric
