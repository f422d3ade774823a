#pragma once

#include <string>
#include <vector>

#include "crisp/base/files.h"
#include "crisp/tensor/names.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// Weights from anywhere, as one thing: tensors under our names and what the source says, or lets us see, about
// the network they belong to.
struct Checkpoint {
  StateDict tensors;                      // our names
  NameStyle style = NameStyle::kUnknown;  // of the source
  std::string arch;                       // "mit_b0" .. "mit_b5", "vit_s14", "vit_b14", "vit_l14"; "custom", another
                                          // of either kind; "unknown" when it is no encoder of ours
  std::string head;                       // "segformer", "crispformer", "tags", "affinity", "none"
  int64_t width = 0;                      // channels inside the head, 0 without a head
  int64_t class_count = 0;                // of the head; without a head of the image classifier; else 0
  std::vector<std::string> classes;       // their names, empty when the source has none
  double layer_norm_eps = 1e-5;           // which the weights were trained with: 1e-6 in the authors' code
  int64_t heads = 0;                      // of a plain vision transformer; 0: the source does not say, or it is none
  std::string options = "{}";             // JSON, from our own model files
  Metadata metadata;                      // as the file has it
  Path file;                              // what was read
  std::string description;                // "hub folder, hub names, mit_b0, head segformer, 21 classes, f32"
};

// A hub folder, a .safetensors file (ours or others'), or a .pth/.pt/.bin; told apart by what they are.
Checkpoint read_checkpoint(const Path& file_or_folder);

}  // namespace crisp::tensor
