#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

namespace crisp::tensor {

static_assert(std::endian::native == std::endian::little, "file formats here are read by plain copies of bytes");

// Bytes of a dense tensor of this shape, or nothing when a dimension is negative or the count leaves 63 bits.
// Zeros count as ones while multiplying, so strides of a shape that passes never overflow either.
inline std::optional<int64_t> tensor_bytes(std::span<const int64_t> shape, int64_t item_size) {
  int64_t product = item_size;
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

// A little-endian number at the start of `from`, which may lie anywhere; the caller checks that it fits.
template <typename T>
T load_number(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace crisp::tensor
