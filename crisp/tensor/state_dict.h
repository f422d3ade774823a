#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// Parameters and buffers by name, in the order of names.
using StateDict = std::map<std::string, torch::Tensor>;

using Metadata = std::map<std::string, std::string>;

struct NamedTensors {
  StateDict tensors;
  Metadata metadata;
};

// Which differences between file and module are fine; prefixes of names ("head.", "classifier.").
struct LoadRules {
  std::vector<std::string> may_be_missing;  // kept as the module initialised them
  std::vector<std::string> may_be_extra;    // left in the file
};

struct LoadReport {
  int64_t copied = 0;
  std::vector<std::string> missing, extra;  // what the rules allowed
};

// Parameters and buffers of the module, not copied: they share memory with it.
StateDict state_of(const torch::nn::Module& module);

// Copies by name into parameters and buffers, converting dtype and device. What does not fit is an Error
// that starts with `source` and lists the tensors missing, unexpected or of another shape; then nothing is
// copied. A missing `num_batches_tracked` is always fine: old files lack it, and it does not change answers.
LoadReport load_into(torch::nn::Module& module, const StateDict& state, const std::string& source,
                     const LoadRules& rules = {});

// "[64, 3, 7, 7]".
std::string shape_text(torch::IntArrayRef shape);

// Elements of all tensors together.
int64_t count_elements(const StateDict& state);

}  // namespace crisp::tensor
