#include "crisp/data/feature_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "crisp/base/crc32c.h"
#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/parallel.h"
#include "crisp/data/feature_cache_file.h"

namespace crisp::data {
namespace fs = std::filesystem;

namespace {

// They wait for the disk: 21,000 heads in 38 files took 0.8 s instead of 1.7 to 2.7 with one.
constexpr int kScanThreads = 16;

uint64_t count_of(const FeatureShape& shape) {
  return uint64_t{shape.maps} * shape.height * shape.width * shape.channels;
}

uint32_t checksum_of(std::span<const uint16_t> values) {
  return crc32c({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string short_hex(const Sha256& hash) { return to_hex(hash).substr(0, 12); }

struct FolderContents {
  std::vector<int64_t> numbers;  // of data files, ascending
  std::vector<Path> unfinished;  // data files whose beginning was cut short
  std::vector<Path> foreign;
};

FolderContents contents_of(const Path& folder) {
  FolderContents found;
  std::error_code code;
  if (!fs::exists(folder, code)) return found;
  auto entry = fs::directory_iterator(folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    const bool is_file = entry->symlink_status(code).type() == fs::file_type::regular;
    const int64_t number = feature_file_number(name);
    const size_t temporary = name.find(".bin.tmp-");  // of AtomicFile
    if (is_file && number >= 0) {
      found.numbers.push_back(number);
    } else if (is_file && temporary != std::string::npos && feature_file_number(name.substr(0, temporary + 4)) >= 0) {
      found.unfinished.push_back(entry->path());
    } else if (name != ".lock") {
      found.foreign.push_back(entry->path());
    }
  }
  if (code) throw Error("{}: cannot list this folder: {}", folder.string(), code.message());
  std::ranges::sort(found.numbers);
  return found;
}

// Before anything is made in the folder, even the lock.
const Path& without_foreign_files(const Path& folder) {
  const FolderContents found = contents_of(folder);
  if (!found.foreign.empty()) {
    throw Error("{}: is no file of a feature cache; a cache needs a folder of its own", found.foreign.front().string());
  }
  return folder;
}

void remove_file(const Path& file) {
  std::error_code code;
  fs::remove(file, code);
  if (code) throw Error("{}: cannot be removed: {}", file.string(), code.message());
}

std::string difference(const FeatureFacts& there, const FeatureFacts& wanted) {
  if (there.weights != wanted.weights) {
    return fmt::format("weights {} instead of {}", short_hex(there.weights), short_hex(wanted.weights));
  }
  return fmt::format("view \"{}\" instead of \"{}\"", there.view, wanted.view);
}

}  // namespace

size_t FeatureCache::KeyHash::operator()(const FeatureKey& key) const {
  size_t hash = 0;
  std::memcpy(&hash, key.photo.data(), sizeof(hash));
  return hash ^ (key.variant * size_t{0x9E3779B97F4A7C15});
}

FeatureCache::FeatureCache(const Path& folder, FeatureFacts facts, uint64_t most_bytes, uint64_t file_bytes)
    : folder_(folder),
      facts_(std::move(facts)),
      most_bytes_(most_bytes),
      file_bytes_(file_bytes),
      lock_(without_foreign_files(folder_)) {
  open_files();
}

FeatureCache::~FeatureCache() = default;

void FeatureCache::open_files() {
  const FolderContents found = contents_of(folder_);
  std::vector<std::shared_ptr<FeatureFile>> ours;
  std::vector<Path> damaged, others;
  std::string other;
  // All are looked at before the first is changed: a file that is not ours is an Error that leaves the folder alone.
  for (const int64_t number : found.numbers) {
    auto file = std::make_shared<FeatureFile>(folder_ / feature_file_name(number), file_bytes_);
    const std::optional<FeatureFacts> facts = file->facts();
    if (facts == facts_) {
      ours.push_back(std::move(file));
    } else if (facts) {
      others.push_back(file->path());
      other = difference(*facts, facts_);
    } else {
      damaged.push_back(file->path());
    }
    next_number_ = number + 1;
  }
  for (const Path& file : found.unfinished) remove_file(file);
  for (const Path& file : damaged) {
    log_warning("{}: its head is damaged; it is removed and its features are made again", file.string());
    remove_file(file);
  }
  if (!others.empty()) {
    log_info("{}: holds features of {}; {} {} removed and features are made again", folder_.string(), other,
             others.size(), others.size() == 1 ? "file is" : "files are");
  }
  for (const Path& file : others) remove_file(file);

  std::vector<std::vector<FeatureRecord>> records(ours.size());
  parallel_for(static_cast<int64_t>(ours.size()), kScanThreads,
               [&](int64_t i) { records[static_cast<size_t>(i)] = ours[static_cast<size_t>(i)]->scan(); });
  for (size_t i = 0; i < ours.size(); ++i) {
    // In the order they were made: where a key comes twice, the first was damaged.
    for (const FeatureRecord& record : records[i]) remember(ours[i], record, false);
    bytes_ += ours[i]->bytes();
  }
  if (!ours.empty()) last_ = ours.back();
}

void FeatureCache::remember(const std::shared_ptr<const FeatureFile>& file, const FeatureRecord& record, bool checked) {
  entries_.insert_or_assign(record.key, Entry{file, record.shape, record.offset, record.checksum, checked});
}

std::optional<Features> FeatureCache::find(const FeatureKey& key) {
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    entry = found->second;
  }
  const Features features{entry.shape, entry.file->values(entry.offset, count_of(entry.shape)), entry.file};
  if (entry.checked) return features;
  const bool whole = checksum_of(features.values) == entry.checksum;  // two threads may do it at once: no harm
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  // Another thread may have found the damage, and even mended it, meanwhile.
  const bool same = found != entries_.end() && found->second.file == entry.file && found->second.offset == entry.offset;
  if (whole) {
    if (same) found->second.checked = true;
    return features;
  }
  if (same) {
    entries_.erase(found);
    log_warning("{}: the features of photo {} (variant {}) at byte {} are damaged; they are made again",
                entry.file->path().string(), short_hex(key.photo), key.variant, entry.offset);
  }
  return std::nullopt;
}

bool FeatureCache::add(const FeatureKey& key, const FeatureShape& shape, std::span<const uint16_t> values) {
  const uint64_t record_bytes = feature_bytes(shape);
  if (values.size() != count_of(shape)) {
    throw Error("features of shape {}x{}x{}x{} need {} values, {} were given", shape.maps, shape.height, shape.width,
                shape.channels, count_of(shape), values.size());
  }
  const uint32_t checksum = checksum_of(values);
  const std::lock_guard writing(writing_);
  const bool new_file = last_ == nullptr || !last_->has_room(record_bytes);
  const uint64_t head_bytes = new_file ? feature_head_bytes(facts_) : 0;
  {
    const std::lock_guard lock(mutex_);
    if (entries_.contains(key)) return true;
    if (bytes_ + head_bytes + record_bytes > most_bytes_) return false;
  }
  if (new_file) {
    const Path path = folder_ / feature_file_name(next_number_);
    FeatureFile::create(path, facts_);
    last_ = std::make_shared<FeatureFile>(path, std::max(file_bytes_, head_bytes + record_bytes));
    ++next_number_;
    const std::lock_guard lock(mutex_);
    bytes_ += head_bytes;
  }
  const FeatureRecord record = last_->append(key, shape, values, checksum);
  const std::lock_guard lock(mutex_);
  bytes_ += record_bytes;
  remember(last_, record, true);
  return true;
}

size_t FeatureCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

uint64_t FeatureCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void remove_feature_cache(const Path& folder) {
  std::error_code code;
  if (!fs::exists(folder, code)) return;
  const FolderLock lock(folder);
  const FolderContents found = contents_of(folder);
  for (const Path& file : found.unfinished) remove_file(file);
  for (const int64_t number : found.numbers) {
    const FeatureFile file(folder / feature_file_name(number), 0);
    if (file.is_ours()) remove_file(file.path());
  }
}

}  // namespace crisp::data
