#include "crisp/tensor/file_view.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "crisp/base/error.h"

namespace crisp::tensor {

FileView::FileView(const Path& path) : file_(std::make_shared<MappedFile>(path)) {
  const auto bytes = file_->bytes();
  if (bytes.empty()) return;
  // The mapping is private, so writable pages are copies of our own: an in-place operation on a tensor from a
  // file works like on any other instead of ending the program.
  void* start = const_cast<std::byte*>(bytes.data());
  if (::mprotect(start, bytes.size(), PROT_READ | PROT_WRITE) != 0) {
    throw Error("{}: cannot map: {}", path.string(), std::strerror(errno));
  }
}

torch::Tensor FileView::tensor(torch::ScalarType type, torch::IntArrayRef shape, int64_t begin) const {
  std::byte* start = const_cast<std::byte*>(file_->bytes().data()) + begin;
  const bool aligned = reinterpret_cast<uintptr_t>(start) % c10::elementSize(type) == 0;
  if (type == torch::kBool) return torch::from_blob(start, shape, torch::kUInt8).ne(0);
  if (!aligned) {
    torch::Tensor copy = torch::empty(shape, type);
    if (copy.nbytes() > 0) std::memcpy(copy.mutable_data_ptr(), start, copy.nbytes());
    return copy;
  }
  return torch::from_blob(start, shape, [file = file_](void*) {}, type);
}

}  // namespace crisp::tensor
