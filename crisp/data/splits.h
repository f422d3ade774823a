#pragma once

#include <cstdint>
#include <string>

#include "crisp/base/files.h"
#include "crisp/data/dataset.h"
#include "crisp/data/lists.h"

namespace crisp::data {

// Reads every NAME.txt of a folder as split NAME. Of each line the whole is taken as a name, else its first
// word (public VOC lists have the mask's path behind it). Names without image and names given twice go to
// the findings.
void read_splits(const Path& folder, const NameIndex& names, Dataset& dataset);

// Adds `train` and `val`: a seeded choice that depends on each id alone, so that a new photo does not move
// the others. `share` of the samples, at least one, are held out; a single sample is in both.
void hold_out(double share, uint64_t seed, Dataset& dataset);

}  // namespace crisp::data
