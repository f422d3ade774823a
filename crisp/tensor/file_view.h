#pragma once

#include <memory>
#include <span>

#include "crisp/base/files.h"
#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// A mapped file that hands out tensors: views of its bytes which keep the mapping alive. Writing to a view
// changes this process's copy of the page, never the file.
class FileView {
 public:
  explicit FileView(const Path& path);

  std::span<const std::byte> bytes() const { return file_->bytes(); }

  // A dense tensor whose bytes start at `begin`; the caller has checked that they lie in the file. Copied when
  // the place is not aligned for the type, and for booleans (a byte other than 0 and 1 counts as true).
  torch::Tensor tensor(torch::ScalarType type, torch::IntArrayRef shape, int64_t begin) const;

 private:
  std::shared_ptr<MappedFile> file_;
};

}  // namespace crisp::tensor
