#include "crisp/base/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "crisp/base/error.h"

namespace crisp {

AppendFile::AppendFile(Path path, Existing existing) : path_(std::move(path)) {
  const int create = existing == Existing::kRefuse ? O_CREAT | O_EXCL : O_CREAT;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | create, 0666);
  if (descriptor_ < 0) throw Error("{}: cannot write: {}", path_.string(), std::strerror(errno));
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void AppendFile::append(std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int code = errno;
      // What did fit would be a torn record in the middle once there is room again.
      const off_t size = ::lseek(descriptor_, 0, SEEK_END);
      const bool cut = done == 0 || ::ftruncate(descriptor_, size - static_cast<off_t>(done)) == 0;
      throw Error("{}: cannot write: {}{}", path_.string(), std::strerror(code),
                  cut ? "" : " (its last record is incomplete)");
    }
    done += static_cast<size_t>(put);
  }
}

}  // namespace crisp
