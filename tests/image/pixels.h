#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "crisp/image/image.h"
#include "tests/support/support.h"

// Goldens of the image room, read without the code under test.
namespace crisp::image {

inline Path sample(const std::string& name) { return test::golden("goldens/image/" + name); }

// The samples of a binary PPM (P6) or PGM (P5).
inline std::vector<uint8_t> read_pnm(const Path& path, const std::string& magic, int& width, int& height) {
  const std::string text = read_text(path);
  std::istringstream head(text);
  std::string kind;
  int most = 0;
  head >> kind >> width >> height >> most;
  if (kind != magic || most != 255) throw Error("{}: not a {} of 8 bits", path.string(), magic);
  const auto start = text.begin() + static_cast<std::ptrdiff_t>(head.tellg()) + 1;
  return std::vector<uint8_t>(start, text.end());
}

inline Image golden_image(const std::string& name) {
  Image image;
  image.rgb = read_pnm(sample(name + ".ppm"), "P6", image.width, image.height);
  return image;
}

inline Mask golden_mask(const std::string& name) {
  Mask mask;
  mask.labels = read_pnm(sample(name + ".pgm"), "P5", mask.width, mask.height);
  return mask;
}

template <typename T>
std::vector<T> golden_numbers(const std::string& name) {
  const std::string bytes = read_text(sample(name));
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// The largest difference of any channel, or 256 where the sizes differ.
inline int difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height || a.rgb.size() != b.rgb.size()) return 256;
  int most = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) most = std::max(most, std::abs(a.rgb[i] - b.rgb[i]));
  return most;
}

inline bool same(const Mask& a, const Mask& b) {
  return a.width == b.width && a.height == b.height && a.labels == b.labels;
}

// CRC-32 as zlib and PNG have it.
inline uint32_t checksum(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace crisp::image

// The statement throws crisp::Error whose message holds each of the texts.
#define EXPECT_ERROR(statement, ...)                                                                            \
  try {                                                                                                         \
    statement;                                                                                                  \
    ADD_FAILURE() << "no error from " #statement;                                                               \
  } catch (const crisp::Error& error) {                                                                         \
    for (const std::string& text : std::vector<std::string>{__VA_ARGS__}) {                                     \
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what() << "\nlacks " << text; \
    }                                                                                                           \
  }
