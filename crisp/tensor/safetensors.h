#pragma once

#include "crisp/base/files.h"
#include "crisp/tensor/safetensors_header.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// The safetensors format: 8 bytes of header length, a JSON header, the tensors' bytes.

// Tensors are views of the mapped file, which stays mapped as long as one of them lives; pages are read when
// touched, and writing to a tensor changes this process's copy only. A mapped file must not be truncated while
// in use (the system answers with SIGBUS): replace it by rename, as every writer here does.
NamedTensors read_safetensors(const Path& path);

// Names, types, shapes and metadata alone.
SafetensorsHeader read_safetensors_header(const Path& path);

// Appears under its name only when complete. Tensors may be strided and on any device.
void write_safetensors(const Path& path, const StateDict& tensors, const Metadata& metadata = {});

}  // namespace crisp::tensor
