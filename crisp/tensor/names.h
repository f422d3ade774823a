#pragma once

#include <string>

#include "crisp/tensor/state_dict.h"

namespace crisp::tensor {

// How the tensors of a SegFormer or of a DINOv2 encoder are called. The same network is found under:
//   kOurs      encoder.stages.0.blocks.1.attn.q.weight
//   kHub       segformer.encoder.block.0.1.attention.self.query.weight     (files of the public hub)
//   kHub5      segformer.stages.0.blocks.1.attention.q_proj.weight         (inside transformers 5)
//   kOriginal  backbone.block1.1.attn.q.weight                             (the authors' code; MiT files
//                                                                           without "backbone.")
// and
//   kOurs      encoder.blocks.1.attn.qkv.weight
//   kDino      blocks.1.attn.qkv.weight                                    (the authors' code)
//   kDinoHub   dinov2.encoder.layer.1.attention.attention.query.weight     (the public hub; encoders without "dinov2.")
//   kDinoHub5  dinov2.encoder.layer.1.attention.q_proj.weight              (inside transformers 5)
enum class NameStyle { kOurs, kHub, kHub5, kOriginal, kDino, kDinoHub, kDinoHub5, kUnknown };

// "our names", "hub names", ...: for messages.
std::string style_name(NameStyle style);

// The style most tensors agree with; kUnknown when no tensor is called as in any of them.
NameStyle detect_style(const StateDict& state);

// Renamed to ours; keys and values of attention, apart in the hub styles, become one `kv` (keys first), those of DINOv2
// with the queries one `qkv`. What the authors' code carries along without using it (`decode_head.conv_seg`,
// `mask_token`) is dropped. Other names stay, so that loading reports them. Two tensors that would get one name are an
// Error, and so are tensors of a DINOv2 that we cannot run: register tokens, gated (SwiGLU) layers.
StateDict to_our_names(const StateDict& state, NameStyle style);

// From our names to those of the hub's files, for other programs.
StateDict to_hub_names(const StateDict& state);

}  // namespace crisp::tensor
