#include "crisp/tensor/zip.h"

#include <algorithm>
#include <optional>

#include "crisp/base/error.h"
#include "crisp/tensor/bytes.h"

namespace crisp::tensor {
namespace {

// Numbers at checked places of the archive.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  uint64_t size() const { return bytes_.size(); }

  [[noreturn]] void fail(const char* problem) const { throw Error("{}: corrupt zip archive: {}", source_, problem); }

  std::span<const std::byte> at(uint64_t offset, uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) fail("a record lies outside the file");
    return bytes_.subspan(offset, count);
  }

  template <typename T>
  T number(uint64_t offset) const {
    return load_number<T>(at(offset, sizeof(T)).data());
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& source_;
};

struct Directory {
  uint64_t offset = 0, count = 0;
};

// The end record lies behind everything but a comment of up to 64 KiB.
Directory find_directory(const Reader& zip) {
  constexpr uint64_t kEndSize = 22, kLongestComment = 65535, kLocatorSize = 20;
  if (zip.size() < kEndSize) zip.fail("it is too short");
  const uint64_t last = zip.size() - kEndSize;
  const uint64_t first = last - std::min(last, kLongestComment);
  for (uint64_t end = last + 1; end-- > first;) {
    if (zip.number<uint32_t>(end) != 0x06054B50) continue;
    Directory directory{zip.number<uint32_t>(end + 16), zip.number<uint16_t>(end + 10)};
    if (end >= kLocatorSize && zip.number<uint32_t>(end - kLocatorSize) == 0x07064B50) {  // zip64
      const auto record = zip.number<uint64_t>(end - kLocatorSize + 8);
      if (zip.number<uint32_t>(record) != 0x06064B50) zip.fail("its zip64 record is missing");
      zip.at(record, 56);
      directory = {zip.number<uint64_t>(record + 48), zip.number<uint64_t>(record + 32)};
    }
    return directory;
  }
  zip.fail("its end is missing; the file is truncated or not a zip archive");
}

// Sizes and place that did not fit 32 bits stand in an extra field, in this order.
struct Place {
  uint64_t size, stored_size, offset;
};

Place read_place(const Reader& zip, uint64_t header, uint64_t extra, uint64_t extra_size) {
  constexpr uint32_t kElsewhere = 0xFFFFFFFF;
  Place place{zip.number<uint32_t>(header + 24), zip.number<uint32_t>(header + 20), zip.number<uint32_t>(header + 42)};
  const uint64_t end = extra + extra_size;
  while (end - extra >= 4) {
    const auto kind = zip.number<uint16_t>(extra);
    const uint64_t next = extra + 4 + zip.number<uint16_t>(extra + 2);
    if (next > end) zip.fail("an extra field is too long");
    if (kind == 1) {
      uint64_t at = extra + 4;
      for (uint64_t* field : {&place.size, &place.stored_size, &place.offset}) {
        if (*field != kElsewhere) continue;
        if (next - at < 8) zip.fail("a zip64 field is too short");
        *field = zip.number<uint64_t>(at);
        at += 8;
      }
    }
    extra = next;
  }
  return place;
}

}  // namespace

std::map<std::string, ZipEntry> list_zip(std::span<const std::byte> archive, const std::string& source) {
  const Reader zip(archive, source);
  const Directory directory = find_directory(zip);
  std::map<std::string, ZipEntry> entries;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    constexpr uint64_t kHeaderSize = 46, kLocalSize = 30;
    if (zip.at(at, kHeaderSize); zip.number<uint32_t>(at) != 0x02014B50) zip.fail("its directory is damaged");
    const uint64_t name_size = zip.number<uint16_t>(at + 28), extra_size = zip.number<uint16_t>(at + 30);
    const auto name_bytes = zip.at(at + kHeaderSize, name_size);
    const std::string name(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
    zip.at(at + kHeaderSize + name_size, extra_size);
    const Place place = read_place(zip, at, at + kHeaderSize + name_size, extra_size);
    if ((zip.number<uint16_t>(at + 8) & 1) != 0) throw Error("{}: '{}' in it is encrypted", source, name);
    if (zip.number<uint16_t>(at + 10) != 0 || place.size != place.stored_size) {
      throw Error("{}: '{}' in it is compressed; save the weights again with torch.save", source, name);
    }
    zip.at(place.offset, kLocalSize);
    if (zip.number<uint32_t>(place.offset) != 0x04034B50) zip.fail("a file in it has no header");
    const uint64_t begin =
        place.offset + kLocalSize + zip.number<uint16_t>(place.offset + 26) + zip.number<uint16_t>(place.offset + 28);
    zip.at(begin, place.size);
    entries[name] = {static_cast<int64_t>(begin), static_cast<int64_t>(place.size)};
    at += kHeaderSize + name_size + extra_size + zip.number<uint16_t>(at + 32);
  }
  return entries;
}

}  // namespace crisp::tensor
