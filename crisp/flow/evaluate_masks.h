#pragma once

#include "crisp/flow/evaluate.h"

namespace crisp::flow {

struct MaskOptions {
  Path predictions;  // a folder of PNG masks, or a seed folder
  metric::Options metric;
  image::MaskReading reading;       // of the predictions
  bool resize_nearest = false;      // a prediction of another size than its truth; else an Error
  bool missing_background = false;  // a missing prediction counts as background; else an Error

  // Predicted pixels of label 255. kMiss: wrong wherever the truth is scored. kBoth, for seeds: they count as
  // background, and a second evaluation leaves them out. kAuto: kBoth for a seed folder, else kMiss.
  enum class Unlabelled { kAuto, kMiss, kBoth } unlabelled = Unlabelled::kAuto;
  int threads = 1;
};

// Scores any method's masks. Images are read, scored and dropped, `threads` at a time. Errors name the files.
Evaluation evaluate_masks(const Truth& truth, const MaskOptions& options);

}  // namespace crisp::flow
