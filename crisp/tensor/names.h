#pragma once

#include <string>

#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// How the tensors of a SegFormer are called. The same network is found under:
//   kOurs      encoder.stages.0.blocks.1.attn.q.weight
//   kHub       segformer.encoder.block.0.1.attention.self.query.weight     (files of the public hub)
//   kHub5      segformer.stages.0.blocks.1.attention.q_proj.weight         (inside transformers 5)
//   kOriginal  backbone.block1.1.attn.q.weight                             (the authors' code; MiT files
//                                                                           without "backbone.")
enum class NameStyle { kOurs, kHub, kHub5, kOriginal, kUnknown };

// "our names", "hub names", ...: for messages.
std::string style_name(NameStyle style);

// The style most tensors agree with; kUnknown when no tensor is called as in any of them.
NameStyle detect_style(const StateDict& state);

// Renamed to ours; keys and values of attention, apart in the hub styles, become one `kv` (keys first). What the
// authors' code carries along without using it (`decode_head.conv_seg`) is dropped. Other names stay, so that
// loading reports them. Two tensors that would get one name are an Error.
StateDict to_our_names(const StateDict& state, NameStyle style);

// From our names to those of the hub's files, for other programs.
StateDict to_hub_names(const StateDict& state);

}  // namespace crisp::tensor
