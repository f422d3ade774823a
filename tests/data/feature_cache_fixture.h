#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "crisp/base/log.h"
#include "crisp/data/feature_cache.h"
#include "tests/data/support.h"

namespace crisp::data::test {

inline constexpr uint64_t kNoLimit = ~uint64_t{0};
inline constexpr uint64_t kHeadBytes = 128;  // of a file of features_of_test()

inline FeatureFacts features_of_test(const std::string& weights = "weights", const std::string& view = "at 28x28") {
  return {sha256(weights), view};
}

inline FeatureKey photo(int number, uint32_t variant = 0) {
  return {sha256("photo " + std::to_string(number)), variant};
}

// Values that differ from photo to photo and from place to place.
inline std::vector<uint16_t> values_of(int number, const FeatureShape& shape) {
  std::vector<uint16_t> values(size_t{shape.maps} * shape.height * shape.width * shape.channels);
  uint32_t state = 2'654'435'761U * static_cast<uint32_t>(number + 1);
  for (uint16_t& value : values) value = static_cast<uint16_t>((state = state * 1'664'525U + 1'013'904'223U) >> 16);
  return values;
}

inline bool add_photo(FeatureCache& cache, int number, const FeatureShape& shape) {
  return cache.add(photo(number), shape, values_of(number, shape));
}

// The photo's features are there, to the bit.
inline bool holds(FeatureCache& cache, int number, const FeatureShape& shape) {
  const std::optional<Features> found = cache.find(photo(number));
  return found && found->shape == shape && std::ranges::equal(found->values, values_of(number, shape));
}

// Without waiting for the disk.
inline void put_bytes(const Path& path, const std::string& bytes) { write_atomic(path, bytes, Durable::kNo); }

// What `work` logs.
template <typename Work>
std::string logged(Work work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

}  // namespace crisp::data::test
