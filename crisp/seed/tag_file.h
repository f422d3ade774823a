#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisp/base/files.h"

namespace crisp::seed {

// The tags of the field's public code, `cls_labels*.npy`: a pickled dict from photo id to a vector with 1 for each
// class it has, the background not counted. Read by a parser that executes nothing. Returns id -> class numbers from 1.
std::map<std::string, std::vector<int>> read_tag_file(const Path& path);

}  // namespace crisp::seed
