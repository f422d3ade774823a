#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisp/base/files.h"
#include "crisp/tensor/arch.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// What it says about a DINOv2 that its tensors do not show.
struct HubVit {
  VitShape shape;
  int64_t heads = 0;
  double layer_norm_eps = 1e-6;
};

// What config.json of a hub folder says about a SegFormer, or about a DINOv2: then `vit` is there and `encoder` empty.
struct HubConfig {
  EncoderShape encoder;
  std::optional<HubVit> vit;
  int64_t width = 0;                 // decoder_hidden_size
  std::vector<std::string> classes;  // id2label in the order of ids; "class N" for an id left out
};

// Does the folder look like one of the hub (a config.json inside)?
bool is_hub_folder(const Path& folder);

HubConfig read_hub_config(const Path& config_file);

// The tensors under the file's own names: model.safetensors, else the shards of model.safetensors.index.json,
// else pytorch_model.bin. `file` is what was read.
struct HubWeights {
  StateDict tensors;
  Path file;
};
HubWeights read_hub_weights(const Path& folder);

}  // namespace crisp::tensor
