#pragma once

#include <vector>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"

namespace crisp::data {

// How large things are, by somebody who knows the photos: a line `NAME PERCENT` for each class, the share of a photo
// that the class fills on the average where it is tagged; '#' begins a comment. One share (0 .. 1) a class, 0 for those
// not named.
std::vector<double> read_class_sizes(const Path& file, const ClassNames& classes);

}  // namespace crisp::data
