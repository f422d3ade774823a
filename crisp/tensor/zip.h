#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace crisp::tensor {

// One file inside a zip archive, stored as it is.
struct ZipEntry {
  int64_t begin = 0, size = 0;  // its bytes in the archive
};

// The files of a zip (or zip64) archive held in `archive`, every place checked to lie inside it. Only stored
// entries, as torch writes them; a compressed or encrypted one is an Error. Errors start with `source`.
std::map<std::string, ZipEntry> list_zip(std::span<const std::byte> archive, const std::string& source);

}  // namespace crisp::tensor
