#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "crisp/base/files.h"
#include "crisp/base/folder_lock.h"
#include "crisp/base/sha256.h"

namespace crisp::data {

// What decides the values besides the photo. A cache holds features of one FeatureFacts only.
struct FeatureFacts {
  Sha256 weights{};  // of the encoder's weight file
  std::string view;  // how a photo becomes the encoder's input and what is kept: "vit_s14 blocks 6,9,12 at 448x448"

  bool operator==(const FeatureFacts&) const = default;
};

struct FeatureKey {
  Sha256 photo{};        // of the photo's file bytes, so a renamed photo is found and a changed one is not
  uint32_t variant = 0;  // 0 as it is, 1 mirrored; others are the caller's

  bool operator==(const FeatureKey&) const = default;
};

// fp16 values [maps, height, width, channels].
struct FeatureShape {
  uint32_t maps = 0, height = 0, width = 0, channels = 0;

  bool operator==(const FeatureShape&) const = default;
};

// A view into the mapped file. `owner` keeps the mapping alive, also after the cache is gone.
struct Features {
  FeatureShape shape;
  std::span<const uint16_t> values;  // starts at a multiple of 64 bytes
  std::shared_ptr<const void> owner;
};

// Bytes that one record takes on disk. An Error for a shape without values or of more than a TiB.
uint64_t feature_bytes(const FeatureShape& shape);

class FeatureFile;
struct FeatureRecord;

// Features of a frozen encoder, made once and read by every later stage (docs/formats.md, "Feature cache"). The files
// are mapped, so the cache may be larger than memory: the system keeps what is used and drops the rest.
//
// A cache may always be made again. Features of other weights or another view are removed when it is opened, damaged
// ones count as missing. What a killed process left half-written is cut off at the next opening. Nothing is synced: a
// power failure may lose records, but their checksums keep it from making wrong ones.
//
// One process at a time; all functions are safe from several threads.
class FeatureCache {
 public:
  static constexpr uint64_t kFileBytes = uint64_t{1} << 30;

  // Opens or begins the cache. Errors: another process has it open; the folder holds a file that is not ours, or one
  // of another format version. Neither is touched. `file_bytes`: when a new data file begins.
  FeatureCache(const Path& folder, FeatureFacts facts, uint64_t most_bytes, uint64_t file_bytes = kFileBytes);
  ~FeatureCache();
  FeatureCache(const FeatureCache&) = delete;
  FeatureCache& operator=(const FeatureCache&) = delete;

  // The first look at a record checks its checksum: a damaged one is named in a warning and is missing from then on.
  std::optional<Features> find(const FeatureKey& key);

  // False when the files would grow over most_bytes: the caller uses what it has made, and makes it again next time.
  // A key that is there already is left as it is. A full disk is an Error that names the file and changes nothing.
  bool add(const FeatureKey& key, const FeatureShape& shape, std::span<const uint16_t> values);

  size_t size() const;     // records
  uint64_t bytes() const;  // of all files, damaged records included
  const FeatureFacts& facts() const { return facts_; }

 private:
  struct Entry {
    std::shared_ptr<const FeatureFile> file;
    FeatureShape shape;
    uint64_t offset = 0;
    uint32_t checksum = 0;
    bool checked = false;
  };
  struct KeyHash {
    size_t operator()(const FeatureKey& key) const;
  };

  void open_files();  // only from the constructor
  void remember(const std::shared_ptr<const FeatureFile>& file, const FeatureRecord& record, bool checked);

  const Path folder_;
  const FeatureFacts facts_;
  const uint64_t most_bytes_, file_bytes_;
  const FolderLock lock_;

  std::mutex writing_;                 // one add at a time; held while the disk is written
  std::shared_ptr<FeatureFile> last_;  // under writing_: the file that grows, none at first
  int64_t next_number_ = 0;            // under writing_
  mutable std::mutex mutex_;           // guards the rest; never held during disk or checksum work
  std::unordered_map<FeatureKey, Entry, KeyHash> entries_;
  uint64_t bytes_ = 0;
};

// Removes the cache's files; any other file in the folder stays. A folder that does not exist is no error.
void remove_feature_cache(const Path& folder);

}  // namespace crisp::data
