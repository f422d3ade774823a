#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crisp {

using Path = std::filesystem::path;

// Whole file in memory. The error names the path and the system's reason.
std::string read_text(const Path& path);

// Whether a file must survive a power failure right after it was written. Masks and pictures, which can be made
// again, go without: waiting for the disk would cost more than making them.
enum class Durable { kNo, kYes };

// A new file that appears under its name only when commit() succeeded: written beside the target
// under a temporary name, synced when durable, renamed. Anything else (an exception, a full disk) leaves the old
// file untouched and removes the temporary one.
class AtomicFile {
 public:
  explicit AtomicFile(Path target, Durable durable = Durable::kYes);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  Path target_, temporary_;
  Durable durable_;
  int descriptor_ = -1;
};

void write_atomic(const Path& path, std::string_view bytes, Durable durable = Durable::kYes);

// A file mapped read-only; pages are read when touched. Throws Error for a missing or unreadable file.
class MappedFile {
 public:
  explicit MappedFile(const Path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Creates the folder and its parents; the error names the folder and the system's reason.
void make_folder(const Path& folder);

// Regular files below `folder`, recursively, sorted by path, whose extension (lower case, with dot) is
// one of `extensions`; all files when that is empty. Hidden files and folders are left out.
std::vector<Path> list_files(const Path& folder, const std::vector<std::string>& extensions);

// ".JPG" -> ".jpg" for any path.
std::string lower_extension(const Path& path);

// A folder of its own below the system's temporary folder, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const Path& path() const { return path_; }

 private:
  Path path_;
};

}  // namespace crisp
