#pragma once

#include <string>

#include "crisp/base/files.h"

namespace crisp {

// A file of the weights shipped with the program, found beside the program (build tree or installation).
// Empty when it is not there.
Path shipped_weights(const std::string& name);

}  // namespace crisp
