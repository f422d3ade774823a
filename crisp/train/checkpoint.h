#pragma once

#include <optional>

#include "crisp/base/files.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::train {

// Everything a run needs to go on, as one safetensors file a step: weights, teacher, optimizer under prefixes, the
// rest as text. A file appears whole or not at all, and the one before it stays until the next is complete.
struct Checkpoint {
  int64_t step = 0;
  tensor::StateDict tensors;
  tensor::Metadata facts;
  Path file;
};

class CheckpointFolder {
 public:
  explicit CheckpointFolder(Path folder) : folder_(std::move(folder)) {}

  // Keeps the newest two.
  void write(const Checkpoint& checkpoint) const;

  // The newest that can be read; one that cannot is named in a warning. Nothing when there is none.
  std::optional<Checkpoint> newest() const;
  bool any() const { return !files().empty(); }

 private:
  std::vector<Path> files() const;  // the oldest first
  Path folder_;
};

// Tensors whose names start with `prefix`, without it.
tensor::StateDict with_prefix(const tensor::StateDict& all, const std::string& prefix);
void add_with_prefix(tensor::StateDict& all, const std::string& prefix, const tensor::StateDict& more);

}  // namespace crisp::train
