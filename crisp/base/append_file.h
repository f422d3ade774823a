#pragma once

#include <string_view>

#include "crisp/base/files.h"

namespace crisp {

// A file that grows record by record and may be read meanwhile (logs). Every append is one write, handed to the
// system at once: a killed process leaves whole records, and a full disk is an Error that leaves the file as it was.
class AppendFile {
 public:
  enum class Existing { kKeep, kRefuse };  // refuse: an Error when the file is there already

  explicit AppendFile(Path path, Existing existing = Existing::kKeep);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  void append(std::string_view bytes);
  const Path& path() const { return path_; }

 private:
  Path path_;
  int descriptor_ = -1;
};

}  // namespace crisp
