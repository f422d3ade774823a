#pragma once

#include <optional>
#include <span>

#include "crisp/base/files.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// The tensors of a file that torch.save wrote (.pth, .pt, .bin). Its pickle is read as data: nothing in it is
// ever executed, whatever it asks for. `{"state_dict": {...}}` and `{"model": {...}}` are unwrapped, a "module."
// before names (of data-parallel training) is taken off, what is not a tensor is left out.
StateDict read_pth(const Path& path);

// The numbers of one storage as torch.save wrote it into `bytes`, in the form before 1.6: what a tensor that was
// pickled by itself (in a .npy file) holds. Nothing for a storage of a type that is not a plain number's.
std::optional<torch::Tensor> read_storage(std::span<const std::byte> bytes, const std::string& source);

// Does the file begin as torch.save's files do, whatever it is called?
bool is_pth(const Path& path);

}  // namespace crisp::tensor
