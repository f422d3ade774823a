#pragma once

#include <vector>

#include "crisp/base/files.h"

namespace crisp::infer {

// Places of the files such that photos of one size are neighbours, for `stream_photos`. Reads their heads; files that
// cannot be read come first, and are told of when it is their turn.
std::vector<size_t> size_order(const std::vector<Path>& files);

}  // namespace crisp::infer
