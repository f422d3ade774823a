#pragma once

#include <string>

#include "crisp/base/files.h"
#include "crisp/data/augment.h"
#include "crisp/data/dataset.h"

// What every training asks before it begins.
namespace crisp::flow {

// The split to look at or measure on: `val` by name; "auto": the first whose name begins with "val" and that is not
// learned from; empty for "none" and where there is none.
std::string held_out_split(const data::Dataset& dataset, const std::string& val, const std::string& split);

// Encoder weights to start from: the file `init`; those shipped where it is empty, a UsageError where none are; an
// empty path for "none".
Path initial_weights(const std::string& arch, const std::string& init);

// What the networks behind seeds learn from: little is changed, and the crop follows the photos.
data::AugmentOptions light_augmentation();

}  // namespace crisp::flow
