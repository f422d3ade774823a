#pragma once

#include <cstdint>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"

namespace crisp::data {

// `crispformer synth`: rendered scenes with exact masks, the demo's data.
struct SynthOptions {
  int images = 200;
  int size = 256;     // the longer side in pixels
  int classes = 6;    // background counted; at most synth_class_limit()
  uint64_t seed = 0;  // same options, same files, whatever the number of threads
  double zoom = 1;    // of the objects, 0.5 to 3: close-ups are easier
};

// Background and all kinds of things there are.
int synth_class_limit();
ClassNames synth_classes(int classes);

// Writes a folder data set: images/*.jpg, masks/*.png (exact: the topmost figure at each pixel's centre),
// tags.txt, classes.txt, splits/train.txt and val.txt (the last fifth). UsageError for options out of range;
// Error when `out` holds a data set of other options already (pictures of the same ones are made anew).
void render_dataset(const SynthOptions& options, const Path& out, int threads);

}  // namespace crisp::data
