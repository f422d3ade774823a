#include "crisp/base/version.h"

#include "crisp_commit.h"

namespace crisp {

std::string version() { return CRISP_VERSION; }
std::string commit() { return CRISP_COMMIT; }
std::string build_type() { return CRISP_BUILD_TYPE; }

}  // namespace crisp
