#include "crisp/data/feature_cache_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "crisp/base/crc32c.h"
#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"

namespace crisp::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian and read as they are");

constexpr uint64_t kAlign = 64;
constexpr uint64_t kMostPayload = uint64_t{1} << 40;
constexpr size_t kMostView = 64 * 1024;
constexpr uint32_t kVersion = 1;
constexpr std::array<char, 8> kFileMagic = {'C', 'R', 'I', 'S', 'P', 'F', 'E', 'A'};
constexpr std::array<char, 4> kRecordMagic = {'C', 'R', 'F', 'R'};

// The view's text follows, with zeros up to a multiple of 64 bytes.
struct FileHead {
  std::array<char, 8> magic;
  uint32_t version, view_bytes;
  Sha256 weights;
  std::array<uint32_t, 3> zero;
  uint32_t checksum;  // of the 60 bytes before and the view
};
static_assert(sizeof(FileHead) == kAlign);

// The values follow, 2 bytes each, with zeros up to a multiple of 64 bytes.
struct RecordHead {
  std::array<char, 4> magic;
  Sha256 photo;
  uint32_t variant;
  FeatureShape shape;
  uint32_t values_checksum;
  uint32_t checksum;  // of the 60 bytes before
};
static_assert(sizeof(RecordHead) == kAlign);

constexpr uint64_t aligned(uint64_t count) { return (count + kAlign - 1) / kAlign * kAlign; }

// Of the values alone; 0 when the shape has none, or more than anyone can mean.
uint64_t payload_bytes(const FeatureShape& shape) {
  uint64_t count = 2;
  for (const uint64_t side : {shape.maps, shape.height, shape.width, shape.channels}) {
    if (side == 0 || count > kMostPayload / side) return 0;
    count *= side;
  }
  return count;
}

template <typename Head>
std::string_view bytes_of(const Head& head, size_t count = sizeof(Head)) {
  return {reinterpret_cast<const char*>(&head), count};
}

uint32_t checksum_of(const FileHead& head, std::string_view view) {
  return crc32c(std::string(bytes_of(head, offsetof(FileHead, checksum))).append(view));
}
uint32_t checksum_of(const RecordHead& head) { return crc32c(bytes_of(head, offsetof(RecordHead, checksum))); }

// Writes at a place, for a file that may have a torn end which a cut could not remove.
void write_at(int descriptor, const Path& path, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      throw Error("{}: cannot write: {}; free some space, or give the feature cache a smaller limit", path.string(),
                  std::strerror(errno));
    }
    offset += static_cast<uint64_t>(put);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

}  // namespace

uint64_t feature_bytes(const FeatureShape& shape) {
  const uint64_t payload = payload_bytes(shape);
  if (payload == 0) {
    throw Error("features of shape {}x{}x{}x{}: a side is 0, or they are larger than {}", shape.maps, shape.height,
                shape.width, shape.channels, format_bytes(kMostPayload));
  }
  return sizeof(RecordHead) + aligned(payload);
}

std::string feature_file_name(int64_t number) { return fmt::format("features-{:05}.bin", number); }

int64_t feature_file_number(const std::string& name) {
  constexpr std::string_view kBefore = "features-", kAfter = ".bin";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter) || name.size() <= kBefore.size() + kAfter.size()) return -1;
  const auto number =
      parse_integer(name.substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size())).value_or(-1);
  return number >= 0 && feature_file_name(number) == name ? number : -1;
}

uint64_t feature_head_bytes(const FeatureFacts& facts) { return sizeof(FileHead) + aligned(facts.view.size()); }

void FeatureFile::create(const Path& path, const FeatureFacts& facts) {
  if (facts.view.size() > kMostView) {
    throw Error("{}: the description of the features has {} bytes, at most {} fit", path.string(), facts.view.size(),
                kMostView);
  }
  FileHead head{.magic = kFileMagic,
                .version = kVersion,
                .view_bytes = static_cast<uint32_t>(facts.view.size()),
                .weights = facts.weights,
                .zero = {},
                .checksum = 0};
  head.checksum = checksum_of(head, facts.view);
  std::string text(bytes_of(head));
  text.append(facts.view).resize(feature_head_bytes(facts), '\0');
  write_atomic(path, text, Durable::kNo);
}

FeatureFile::FeatureFile(Path path, uint64_t capacity) : path_(std::move(path)) {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error("{}: cannot open: {}", path_.string(), std::strerror(errno));
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  bytes_ = size < 0 ? 0 : static_cast<uint64_t>(size);
  capacity_ = std::max({bytes_, capacity, kAlign});
  // Shared: what is written to the file later must be seen. Pages beyond its end are not touched before.
  void* address = size < 0 ? MAP_FAILED : ::mmap(nullptr, capacity_, PROT_READ, MAP_SHARED, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) throw Error("{}: cannot map: {}", path_.string(), std::strerror(reason));
  data_ = static_cast<const std::byte*>(address);
}

FeatureFile::~FeatureFile() { ::munmap(const_cast<std::byte*>(data_), capacity_); }

bool FeatureFile::is_ours() const {
  std::array<char, sizeof(FileHead)> head{};
  std::memcpy(head.data(), data_, std::min<uint64_t>(head.size(), bytes_));
  return std::string_view(head.data(), kFileMagic.size()) == std::string_view(kFileMagic.data(), kFileMagic.size()) ||
         std::ranges::all_of(head, [](char byte) { return byte == 0; });
}

std::optional<FeatureFacts> FeatureFile::facts() const {
  if (!is_ours()) {
    throw Error("{}: is no file of a feature cache; move it away or choose another folder", path_.string());
  }
  FileHead head{};
  std::memcpy(&head, data_, std::min<uint64_t>(sizeof(head), bytes_));
  if (head.magic != kFileMagic) return std::nullopt;
  if (head.version != kVersion) {
    throw Error("{}: a feature cache of format {}, this program reads {}; choose another folder or remove this one",
                path_.string(), head.version, kVersion);
  }
  if (head.view_bytes > kMostView || bytes_ < sizeof(head) + aligned(head.view_bytes)) return std::nullopt;
  FeatureFacts facts{head.weights, std::string(reinterpret_cast<const char*>(data_) + sizeof(head), head.view_bytes)};
  if (checksum_of(head, facts.view) != head.checksum) return std::nullopt;
  return facts;
}

std::vector<FeatureRecord> FeatureFile::scan() {
  // A page a record: reading ahead would load much of the file.
  ::madvise(const_cast<std::byte*>(data_), capacity_, MADV_RANDOM);
  std::vector<FeatureRecord> records;
  uint64_t end = feature_head_bytes(facts().value());  // of the last whole record
  for (uint64_t at = end; at + sizeof(RecordHead) <= bytes_;) {
    RecordHead head{};
    std::memcpy(&head, data_ + at, sizeof(head));
    const uint64_t payload = payload_bytes(head.shape);
    if (head.magic != kRecordMagic || head.checksum != checksum_of(head) || payload == 0) {
      at += kAlign;  // damaged: its length is not known, so the next head is looked for
      continue;
    }
    if (at + sizeof(head) + aligned(payload) > bytes_) break;
    if (at > end) {
      log_warning("{}: bytes {} to {} are damaged; the features in them are made again", path_.string(), end, at);
    }
    records.push_back({{head.photo, head.variant}, head.shape, at + sizeof(head), head.values_checksum});
    at = end = at + sizeof(head) + aligned(payload);
  }
  ::madvise(const_cast<std::byte*>(data_), capacity_, MADV_NORMAL);
  if (end < bytes_) {
    log_info("{}: its last {} are no whole record and are cut off", path_.string(), format_bytes(bytes_ - end));
    std::error_code code;
    std::filesystem::resize_file(path_, end, code);
    if (code) throw Error("{}: cannot write: {}", path_.string(), code.message());
    bytes_ = end;
  }
  return records;
}

FeatureRecord FeatureFile::append(const FeatureKey& key, const FeatureShape& shape, std::span<const uint16_t> values,
                                  uint32_t checksum) {
  RecordHead head{.magic = kRecordMagic,
                  .photo = key.photo,
                  .variant = key.variant,
                  .shape = shape,
                  .values_checksum = checksum,
                  .checksum = 0};
  head.checksum = checksum_of(head);
  const std::string zeros(aligned(values.size_bytes()) - values.size_bytes(), '\0');
  const uint64_t offset = bytes_ + sizeof(head);
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error("{}: cannot write: {}", path_.string(), std::strerror(errno));
  try {
    write_at(descriptor, path_, bytes_, bytes_of(head));
    write_at(descriptor, path_, offset, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    write_at(descriptor, path_, offset + values.size_bytes(), zeros);
  } catch (...) {
    // Should the cut fail too, the next record is written over what is left, or the next opening cuts it.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor, static_cast<off_t>(bytes_));
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  bytes_ = offset + values.size_bytes() + zeros.size();
  return {key, shape, offset, checksum};
}

std::span<const uint16_t> FeatureFile::values(uint64_t offset, uint64_t count) const {
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t begin = offset / page * page;
  ::madvise(const_cast<std::byte*>(data_) + begin, offset + 2 * count - begin, MADV_WILLNEED);
  return {reinterpret_cast<const uint16_t*>(data_ + offset), count};
}

}  // namespace crisp::data
