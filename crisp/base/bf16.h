#pragma once

#include <bit>
#include <cstdint>

namespace crisp {

// f32 and bf16 (its upper half, as 16 bits) for kernels that are written once for both.

inline float wide(float value) { return value; }
inline float wide(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }

inline void narrow(float value, float& out) { out = value; }
inline void narrow(float value, uint16_t& out) {  // to the nearest, ties to even; values are finite
  const auto bits = std::bit_cast<uint32_t>(value);
  out = static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace crisp
