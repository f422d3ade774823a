#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "crisp/base/files.h"

namespace crisp {

using Sha256 = std::array<uint8_t, 32>;

// FIPS 180-4. With the processor's own instructions where it has them, about seven times as fast as without.
Sha256 sha256(std::string_view bytes);

// The same without them: what other processors run, and what tests compare with.
Sha256 sha256_portable(std::string_view bytes);

// The error names the file and the system's reason.
Sha256 sha256_of_file(const Path& path);

// 64 small letters and digits, as sha256sum prints them.
std::string to_hex(const Sha256& hash);

}  // namespace crisp
