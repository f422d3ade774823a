#include "crisp/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crisp/base/error.h"

namespace crisp {

FolderLock::FolderLock(const Path& folder) {
  make_folder(folder);
  const std::string file = (folder / ".lock").string();
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw Error("{}: cannot be opened: {}", file, std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(descriptor_);
    if (reason == EWOULDBLOCK) {
      throw Error("{}: another crispformer works in this folder; wait for it or choose another one", folder.string());
    }
    throw Error("{}: cannot be locked: {}", file, std::strerror(reason));
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace crisp
