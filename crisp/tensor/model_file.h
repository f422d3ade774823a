#pragma once

#include <string>
#include <vector>

#include "crisp/base/files.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// Our own model file is one safetensors file that needs nothing beside it: what the network is stands in its
// metadata, under these names.
struct ModelMeta {
  std::string arch;                  // "mit_b0" .. "mit_b5"
  std::string head = "none";         // "segformer", "crispformer", "tags", "affinity", "none"
  int64_t width = 0;                 // channels inside the head; 0 without a head
  std::vector<std::string> classes;  // names of classes 0, 1, ...
  double layer_norm_eps = 1e-5;
  std::string options = "{}";  // a JSON object that only the model reads
  Metadata extra;              // anything else worth keeping (licence, training)
};

// Is this the metadata of one of our own model files?
bool is_model_file(const Metadata& metadata);

// Back from a file's metadata. Errors start with `source` and name the field.
ModelMeta read_model_meta(const Metadata& metadata, const std::string& source);

// Floating tensors are stored as `type` (f32, fp16, bf16), except those whose values fp16 cannot hold; they stay
// f32. Tensors are called by our names.
void write_model_file(const Path& path, const StateDict& tensors, const ModelMeta& meta,
                      torch::ScalarType type = torch::kFloat32);

}  // namespace crisp::tensor
