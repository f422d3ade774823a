#pragma once

#include <cstdint>
#include <string_view>

namespace crisp {

// The Castagnoli checksum (RFC 3720): reflected polynomial 0x82F63B78, all ones at the start, inverted at the end.
uint32_t crc32c(std::string_view bytes);

}  // namespace crisp
