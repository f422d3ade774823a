#include "crisp/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "crisp/base/error.h"

namespace crisp {
namespace fs = std::filesystem;

namespace {

std::string reason() { return std::strerror(errno); }

// An open descriptor that closes itself.
struct Descriptor {
  explicit Descriptor(int fd) : value(fd) {}
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value;
};

size_t open_for_reading(const Path& path, Descriptor& file) {
  file.value = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.value < 0) throw Error("{}: cannot open: {}", path.string(), reason());
  struct stat status{};
  if (::fstat(file.value, &status) != 0) throw Error("{}: cannot read: {}", path.string(), reason());
  if (S_ISDIR(status.st_mode)) throw Error("{}: is a folder, a file was expected", path.string());
  return static_cast<size_t>(status.st_size);
}

}  // namespace

std::string read_text(const Path& path) {
  Descriptor file(-1);
  std::string text(open_for_reading(path, file), '\0');
  size_t done = 0;
  while (true) {  // the size is a hint: pipes and /proc report 0, a file may grow
    if (done == text.size()) text.resize(text.size() + 4096);
    const ssize_t got = ::read(file.value, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("{}: cannot read: {}", path.string(), reason());
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  text.resize(done);
  return text;
}

AtomicFile::AtomicFile(Path target, Durable durable) : target_(std::move(target)), durable_(durable) {
  // Several threads and processes may write into one folder; the name is unique to each writer.
  static std::atomic<unsigned> counter{0};
  temporary_ = target_;
  temporary_ += fmt::format(".tmp-{}-{}", ::getpid(), counter++);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error("{}: cannot write: {}", target_.string(), reason());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t put = ::write(descriptor_, next, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw Error("{}: cannot write: {}", target_.string(), reason());
    next += put;
    count -= static_cast<size_t>(put);
  }
}

void AtomicFile::commit() {
  if (durable_ == Durable::kYes && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
    throw Error("{}: cannot write: {}", target_.string(), reason());
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw Error("{}: cannot write: {}", target_.string(), reason());
  }
  ::close(descriptor_);
  descriptor_ = -1;
}

void write_atomic(const Path& path, std::string_view bytes, Durable durable) {
  AtomicFile file(path, durable);
  file.write(bytes);
  file.commit();
}

MappedFile::MappedFile(const Path& path) {
  Descriptor file(-1);
  size_ = open_for_reading(path, file);
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED) throw Error("{}: cannot map: {}", path.string(), reason());
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void make_folder(const Path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code || !fs::is_directory(folder)) {
    throw Error("{}: cannot create this folder: {}", folder.string(),
                code ? code.message() : "a file of that name is there");
  }
}

std::string lower_extension(const Path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<Path> list_files(const Path& folder, const std::vector<std::string>& extensions) {
  std::error_code code;
  auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, code);
  if (code) throw Error("{}: cannot list this folder: {}", folder.string(), code.message());
  std::vector<Path> found;
  for (const auto end = fs::recursive_directory_iterator(); entry != end; entry.increment(code)) {
    if (code) throw Error("{}: cannot list this folder: {}", folder.string(), code.message());
    const Path& path = entry->path();
    if (path.filename().string().starts_with('.')) {
      if (entry->is_directory(code)) entry.disable_recursion_pending();
      continue;
    }
    const std::string extension = lower_extension(path);
    const bool wanted =
        extensions.empty() || std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
    if (wanted && entry->is_regular_file(code)) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "crispformer-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error("{}: cannot create: {}", pattern, reason());
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace crisp
