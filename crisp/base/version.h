#pragma once

#include <string>

namespace crisp {

std::string version();     // "0.1.0"
std::string commit();      // of the source tree that was built, "-dirty" when it had changes
std::string build_type();  // "Release"

}  // namespace crisp
