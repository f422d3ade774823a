#pragma once

#include "crisp/base/files.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// The tensors of a file that torch.save wrote (.pth, .pt, .bin). Its pickle is read as data: nothing in it is
// ever executed, whatever it asks for. `{"state_dict": {...}}` and `{"model": {...}}` are unwrapped, a "module."
// before names (of data-parallel training) is taken off, what is not a tensor is left out.
StateDict read_pth(const Path& path);

// Does the file begin as torch.save's files do, whatever it is called?
bool is_pth(const Path& path);

}  // namespace crisp::tensor
