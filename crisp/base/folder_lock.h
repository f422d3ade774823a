#pragma once

#include "crisp/base/files.h"

namespace crisp {

// Keeps a second process out of a folder. The lock is the kernel's, so it goes with the process, however that ends;
// the file ".lock" stays.
class FolderLock {
 public:
  // Throws Error, naming the folder, when another process holds it.
  explicit FolderLock(const Path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace crisp
