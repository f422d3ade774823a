#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "crisp/data/feature_cache.h"

namespace crisp::data {

// Where a record's values are in its file, and their checksum.
struct FeatureRecord {
  FeatureKey key;
  FeatureShape shape;
  uint64_t offset = 0;
  uint32_t checksum = 0;  // CRC-32C
};

// "features-00007.bin".
std::string feature_file_name(int64_t number);
// The number of such a name; -1 for any other.
int64_t feature_file_number(const std::string& name);

// Bytes before the first record.
uint64_t feature_head_bytes(const FeatureFacts& facts);

// One data file of a cache: a head that says whose features these are, then records. It is mapped once, with room to
// grow: what is appended by write(2) appears in the mapping. Appending is the business of one thread, looking at
// records that were scanned or appended of any.
class FeatureFile {
 public:
  // Begins a file; it appears with its whole head or not at all.
  static void create(const Path& path, const FeatureFacts& facts);

  // Maps a file, and `capacity` bytes if it has fewer.
  FeatureFile(Path path, uint64_t capacity);
  ~FeatureFile();
  FeatureFile(const FeatureFile&) = delete;
  FeatureFile& operator=(const FeatureFile&) = delete;

  const Path& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }
  bool has_room(uint64_t count) const { return bytes_ + count <= capacity_; }

  // Whether it is a feature cache's, of any format version. A file of zeros counts: a power failure leaves such.
  bool is_ours() const;

  // Nothing when the head is damaged. An Error when the file is not ours, or of another format version.
  std::optional<FeatureFacts> facts() const;

  // All whole records. What is left of one at the end is cut off; what is damaged in between is warned about.
  std::vector<FeatureRecord> scan();

  // All of it, or an Error that leaves the file as it was.
  FeatureRecord append(const FeatureKey& key, const FeatureShape& shape, std::span<const uint16_t> values,
                       uint32_t checksum);

  // `count` values at a record's offset. Reading them from the disk begins at once.
  std::span<const uint16_t> values(uint64_t offset, uint64_t count) const;

 private:
  Path path_;
  uint64_t bytes_ = 0, capacity_ = 0;
  const std::byte* data_ = nullptr;
};

}  // namespace crisp::data
