#pragma once

#include "crisp/base/files.h"
#include "crisp/tensor/pickle.h"
#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// NumPy's .npy files, format versions 1 to 3, either byte order and either memory order. Numbers and booleans
// become a contiguous tensor of the same type; arrays of Python objects are an Error that names read_npy_object.
torch::Tensor read_npy(const Path& path);

// An array of Python objects, its pickle read as data and nothing executed. The root is a list of the objects, or
// for an array without dimensions (a dict saved by numpy.save) the object itself. A file of numbers gives its
// tensor as the root.
pickle::Document read_npy_object(const Path& path);

// Appears under its name only when complete. bf16, which NumPy does not have, is written as f32.
void write_npy(const Path& path, const torch::Tensor& tensor);

}  // namespace crisp::tensor
