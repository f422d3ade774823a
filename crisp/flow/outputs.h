#pragma once

#include <string>
#include <vector>

#include "crisp/base/files.h"

namespace crisp::flow {

// One photo to work on and the name its outputs get (no extension; may hold sub-folders).
struct InputImage {
  Path file;
  std::string name;
};

// Photos named on a command line: files as they are, folders searched with their sub-folders. Names are the
// path below the given folder; where two would be the same, they are told apart by the folder's name, then by
// the extension, then by a number, so that no output overwrites another. Throws Error for a missing path or a
// folder without photos.
std::vector<InputImage> collect_images(const std::vector<std::string>& paths);

}  // namespace crisp::flow
