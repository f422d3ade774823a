#include "crisp/tensor/names.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "crisp/base/error.h"
#include "crisp/tensor/name_pattern.h"

namespace crisp::tensor {
namespace {

enum class Part { kMit, kHead, kVit };

// One layer under each of its names, without the last part (".weight"). {i} is the stage, {I} the stage counted
// from 1, {j} the block. Empty: that style has no such layer. Encoder layers stand below the style's prefix. A `whole`
// name has no last part, or another one in each style.
struct Layer {
  std::string_view ours, hub, hub5, original;
  Part part = Part::kMit;
  bool whole = false;
};

constexpr std::array<Layer, 37> kLayers = {{
    {"encoder.stages.{i}.embed.proj", "encoder.patch_embeddings.{i}.proj", "stages.{i}.patch_embeddings.proj",
     "patch_embed{I}.proj"},
    {"encoder.stages.{i}.embed.norm", "encoder.patch_embeddings.{i}.layer_norm",
     "stages.{i}.patch_embeddings.layer_norm", "patch_embed{I}.norm"},
    {"encoder.stages.{i}.norm", "encoder.layer_norm.{i}", "stages.{i}.layer_norm", "norm{I}"},
    {"encoder.stages.{i}.blocks.{j}.norm1", "encoder.block.{i}.{j}.layer_norm_1",
     "stages.{i}.blocks.{j}.layernorm_before", "block{I}.{j}.norm1"},
    {"encoder.stages.{i}.blocks.{j}.attn.q", "encoder.block.{i}.{j}.attention.self.query",
     "stages.{i}.blocks.{j}.attention.q_proj", "block{I}.{j}.attn.q"},
    {"encoder.stages.{i}.blocks.{j}.attn.kv", "", "", "block{I}.{j}.attn.kv"},
    {"encoder.stages.{i}.blocks.{j}.attn.key", "encoder.block.{i}.{j}.attention.self.key",
     "stages.{i}.blocks.{j}.attention.k_proj", ""},
    {"encoder.stages.{i}.blocks.{j}.attn.value", "encoder.block.{i}.{j}.attention.self.value",
     "stages.{i}.blocks.{j}.attention.v_proj", ""},
    {"encoder.stages.{i}.blocks.{j}.attn.sr", "encoder.block.{i}.{j}.attention.self.sr",
     "stages.{i}.blocks.{j}.attention.sequence_reduction.sequence_reduction", "block{I}.{j}.attn.sr"},
    {"encoder.stages.{i}.blocks.{j}.attn.norm", "encoder.block.{i}.{j}.attention.self.layer_norm",
     "stages.{i}.blocks.{j}.attention.sequence_reduction.layer_norm", "block{I}.{j}.attn.norm"},
    {"encoder.stages.{i}.blocks.{j}.attn.proj", "encoder.block.{i}.{j}.attention.output.dense",
     "stages.{i}.blocks.{j}.attention.o_proj", "block{I}.{j}.attn.proj"},
    {"encoder.stages.{i}.blocks.{j}.norm2", "encoder.block.{i}.{j}.layer_norm_2",
     "stages.{i}.blocks.{j}.layernorm_after", "block{I}.{j}.norm2"},
    {"encoder.stages.{i}.blocks.{j}.mlp.fc1", "encoder.block.{i}.{j}.mlp.dense1", "stages.{i}.blocks.{j}.mlp.fc1",
     "block{I}.{j}.mlp.fc1"},
    {"encoder.stages.{i}.blocks.{j}.mlp.dwconv", "encoder.block.{i}.{j}.mlp.dwconv.dwconv",
     "stages.{i}.blocks.{j}.mlp.dwconv.dwconv", "block{I}.{j}.mlp.dwconv.dwconv"},
    {"encoder.stages.{i}.blocks.{j}.mlp.fc2", "encoder.block.{i}.{j}.mlp.dense2", "stages.{i}.blocks.{j}.mlp.fc2",
     "block{I}.{j}.mlp.fc2"},
    {"head.proj.{i}", "decode_head.linear_c.{i}.proj", "decode_head.linear_projections.{i}.proj",
     "decode_head.linear_c{I}.proj", Part::kHead},
    {"head.fuse", "decode_head.linear_fuse", "decode_head.linear_fuse", "decode_head.linear_fuse.conv", Part::kHead},
    {"head.norm", "decode_head.batch_norm", "decode_head.batch_norm", "decode_head.linear_fuse.bn", Part::kHead},
    {"head.classifier", "decode_head.classifier", "decode_head.classifier", "decode_head.linear_pred", Part::kHead},
    {"classifier", "classifier", "classifier", "head", Part::kHead},
    // Never trained: mmsegmentation's base class makes it and the SegFormer head leaves it alone.
    {"", "", "", "decode_head.conv_seg", Part::kHead},
    {"encoder.cls_token", "embeddings.cls_token", "embeddings.cls_token", "cls_token", Part::kVit, true},
    {"encoder.pos_embed", "embeddings.position_embeddings", "embeddings.position_embeddings", "pos_embed", Part::kVit,
     true},
    // Stands for hidden patches when DINOv2 is trained.
    {"", "embeddings.mask_token", "embeddings.mask_token", "mask_token", Part::kVit, true},
    {"encoder.patch_embed.proj", "embeddings.patch_embeddings.projection", "embeddings.patch_embeddings.projection",
     "patch_embed.proj", Part::kVit},
    {"encoder.norm", "layernorm", "layernorm", "norm", Part::kVit},
    {"encoder.blocks.{j}.norm1", "encoder.layer.{j}.norm1", "encoder.layer.{j}.norm1", "blocks.{j}.norm1", Part::kVit},
    {"encoder.blocks.{j}.attn.qkv", "", "", "blocks.{j}.attn.qkv", Part::kVit},
    {"encoder.blocks.{j}.attn.query", "encoder.layer.{j}.attention.attention.query",
     "encoder.layer.{j}.attention.q_proj", "", Part::kVit},
    {"encoder.blocks.{j}.attn.key", "encoder.layer.{j}.attention.attention.key", "encoder.layer.{j}.attention.k_proj",
     "", Part::kVit},
    {"encoder.blocks.{j}.attn.value", "encoder.layer.{j}.attention.attention.value",
     "encoder.layer.{j}.attention.v_proj", "", Part::kVit},
    {"encoder.blocks.{j}.attn.proj", "encoder.layer.{j}.attention.output.dense", "encoder.layer.{j}.attention.o_proj",
     "blocks.{j}.attn.proj", Part::kVit},
    {"encoder.blocks.{j}.ls1.gamma", "encoder.layer.{j}.layer_scale1.lambda1", "encoder.layer.{j}.layer_scale1.lambda1",
     "blocks.{j}.ls1.gamma", Part::kVit, true},
    {"encoder.blocks.{j}.norm2", "encoder.layer.{j}.norm2", "encoder.layer.{j}.norm2", "blocks.{j}.norm2", Part::kVit},
    {"encoder.blocks.{j}.mlp.fc1", "encoder.layer.{j}.mlp.fc1", "encoder.layer.{j}.mlp.fc1", "blocks.{j}.mlp.fc1",
     Part::kVit},
    {"encoder.blocks.{j}.mlp.fc2", "encoder.layer.{j}.mlp.fc2", "encoder.layer.{j}.mlp.fc2", "blocks.{j}.mlp.fc2",
     Part::kVit},
    {"encoder.blocks.{j}.ls2.gamma", "encoder.layer.{j}.layer_scale2.lambda1", "encoder.layer.{j}.layer_scale2.lambda1",
     "blocks.{j}.ls2.gamma", Part::kVit, true},
}};

bool is_dino(NameStyle style) {
  return style == NameStyle::kDino || style == NameStyle::kDinoHub || style == NameStyle::kDinoHub5;
}

std::string_view column(const Layer& layer, NameStyle style) {
  if (style == NameStyle::kOurs) return layer.ours;
  if (is_dino(style) != (layer.part == Part::kVit)) return "";
  switch (style) {
    case NameStyle::kHub:
    case NameStyle::kDinoHub:
      return layer.hub;
    case NameStyle::kHub5:
    case NameStyle::kDinoHub5:
      return layer.hub5;
    case NameStyle::kOriginal:
    case NameStyle::kDino:
      return layer.original;
    default:
      return "";
  }
}

// What stands before encoder layers in a whole model and is absent in an encoder saved alone.
std::string_view encoder_prefix(NameStyle style) {
  switch (style) {
    case NameStyle::kHub:
    case NameStyle::kHub5:
      return "segformer.";
    case NameStyle::kOriginal:
      return "backbone.";
    case NameStyle::kDinoHub:
    case NameStyle::kDinoHub5:
      return "dinov2.";
    default:
      return "";
  }
}

struct Found {
  const Layer* layer;
  Indices indices;
  std::string_view leaf;  // ".weight"; empty where the layer's name is whole
};

std::optional<Found> find_layer(std::string_view name, NameStyle style) {
  const size_t dot = std::min(name.rfind('.'), name.size());
  const std::string_view leaf = name.substr(dot);
  std::string_view below = name;
  if (below.starts_with(encoder_prefix(style))) {
    below.remove_prefix(encoder_prefix(style).size());
  } else if (style == NameStyle::kOriginal && below.starts_with("encoder.")) {
    below.remove_prefix(8);  // weakly supervised projects built on the authors' encoder call it so
  }
  for (const Layer& layer : kLayers) {
    const std::string_view pattern = column(layer, style);
    if (pattern.empty() || (!layer.whole && leaf.empty())) continue;
    std::string_view seen = layer.part == Part::kHead ? name : below;
    if (!layer.whole) {
      if (seen.size() < leaf.size()) continue;
      seen.remove_suffix(leaf.size());
    }
    if (const auto indices = match_name(pattern, seen)) {
      return Found{&layer, *indices, layer.whole ? std::string_view() : leaf};
    }
  }
  return std::nullopt;
}

// All of them, of one shape, along the first dimension. Not torch::cat: it starts and joins threads each time,
// which for a hundred small tensors takes longer than the copying.
torch::Tensor stacked(const std::vector<torch::Tensor>& parts) {
  for (const torch::Tensor& part : parts) {
    if (!part.is_cpu()) return torch::cat(parts);
  }
  std::vector<int64_t> shape = parts[0].sizes().vec();
  shape[0] *= static_cast<int64_t>(parts.size());
  torch::Tensor all = torch::empty(shape, parts[0].options());
  auto* to = static_cast<std::byte*>(all.mutable_data_ptr());
  for (const torch::Tensor& part : parts) {
    const torch::Tensor dense = part.contiguous();
    if (dense.nbytes() > 0) std::memcpy(to, dense.const_data_ptr(), dense.nbytes());
    to += dense.nbytes();
  }
  return all;
}

// Parts of one attention ("key", "value") become one tensor ("kv") in this order. Parts that do not fit each other
// stay apart: loading then reports them by name.
void join(StateDict& state, const std::vector<std::string>& parts, const std::string& whole) {
  const std::string first = ".attn." + parts[0] + ".";
  StateDict joined;
  for (auto item = state.begin(); item != state.end();) {
    const size_t at = item->first.find(first);
    std::vector<StateDict::iterator> found;
    std::vector<torch::Tensor> tensors;
    if (at != std::string::npos) {
      const std::string stem = item->first.substr(0, at), leaf = item->first.substr(at + first.size());
      for (const std::string& part : parts) {
        const auto one = state.find(stem + ".attn." + part + "." + leaf);
        const torch::Tensor& like = item->second;
        if (one == state.end() || like.dim() == 0 || one->second.sizes() != like.sizes() ||
            one->second.scalar_type() != like.scalar_type()) {
          break;
        }
        found.push_back(one);
        tensors.push_back(one->second);
      }
      if (found.size() == parts.size()) joined[stem + ".attn." + whole + "." + leaf] = stacked(tensors);
    }
    ++item;
    if (found.size() != parts.size()) continue;
    for (const auto& one : found) {
      if (item == one) ++item;
      state.erase(one);
    }
  }
  state.merge(joined);
}

// What we cannot run is said by name, before loading lists a hundred tensors that do not fit.
void refuse_other_dinos(const std::string& name) {
  if (name.ends_with("register_tokens")) {
    throw Error(
        "the tensor '{}' belongs to a DINOv2 with register tokens, which are not supported: take the one without",
        name);
  }
  for (const char* gate : {".mlp.w12.", ".mlp.weights_in.", ".mlp.gate_proj."}) {
    if (name.find(gate) != std::string::npos) {
      throw Error(
          "the tensor '{}' belongs to gated layers (SwiGLU, as in ViT-g), which are not supported: take S, B or L",
          name);
    }
  }
}

void split_keys_and_values(StateDict& state) {
  constexpr std::string_view kBoth = ".attn.kv.";
  StateDict parts;
  for (auto item = state.begin(); item != state.end();) {
    const size_t at = item->first.find(kBoth);
    if (at == std::string::npos || item->second.dim() == 0 || item->second.size(0) % 2 != 0) {
      ++item;
      continue;
    }
    const std::string stem = item->first.substr(0, at), leaf = item->first.substr(at + kBoth.size());
    const int64_t half = item->second.size(0) / 2;
    parts[stem + ".attn.key." + leaf] = item->second.narrow(0, 0, half);
    parts[stem + ".attn.value." + leaf] = item->second.narrow(0, half, half);
    item = state.erase(item);
  }
  state.merge(parts);
}

}  // namespace

std::string style_name(NameStyle style) {
  switch (style) {
    case NameStyle::kOurs:
      return "our names";
    case NameStyle::kHub:
      return "hub names";
    case NameStyle::kHub5:
      return "transformers-5 names";
    case NameStyle::kOriginal:
      return "original SegFormer names";
    case NameStyle::kDino:
      return "DINOv2 names";
    case NameStyle::kDinoHub:
      return "hub DINOv2 names";
    case NameStyle::kDinoHub5:
      return "transformers-5 DINOv2 names";
    case NameStyle::kUnknown:
      break;
  }
  return "unknown names";
}

NameStyle detect_style(const StateDict& state) {
  NameStyle best = NameStyle::kUnknown;
  int64_t most = 0;
  for (const NameStyle style : {NameStyle::kOurs, NameStyle::kHub, NameStyle::kHub5, NameStyle::kOriginal,
                                NameStyle::kDino, NameStyle::kDinoHub, NameStyle::kDinoHub5}) {
    int64_t count = 0;
    for (const auto& [name, tensor] : state) count += find_layer(name, style).has_value();
    if (count > most) {
      most = count;
      best = style;
    }
  }
  return best;
}

StateDict to_our_names(const StateDict& state, NameStyle style) {
  if (style == NameStyle::kOurs || style == NameStyle::kUnknown) return state;
  StateDict ours;
  for (const auto& [name, tensor] : state) {
    if (is_dino(style)) refuse_other_dinos(name);
    std::string renamed = name;
    if (const auto found = find_layer(name, style)) {
      if (found->layer->ours.empty()) continue;
      renamed = fill_name(found->layer->ours, found->indices) + std::string(found->leaf);
    }
    if (!ours.emplace(renamed, tensor).second) {
      throw Error("two tensors of the file are both '{}', one of them called '{}'", renamed, name);
    }
  }
  join(ours, {"query", "key", "value"}, "qkv");  // DINOv2's: MiT has no "query" under our names
  join(ours, {"key", "value"}, "kv");
  return ours;
}

StateDict to_hub_names(const StateDict& state) {
  StateDict ours = state;
  split_keys_and_values(ours);
  StateDict hub;
  for (const auto& [name, tensor] : ours) {
    const auto found = find_layer(name, NameStyle::kOurs);
    if (!found || found->layer->hub.empty() || found->layer->part == Part::kVit) {
      hub[name] = tensor;
      continue;
    }
    const std::string_view prefix = found->layer->part == Part::kMit ? encoder_prefix(NameStyle::kHub) : "";
    hub[std::string(prefix) + fill_name(found->layer->hub, found->indices) + std::string(found->leaf)] = tensor;
  }
  return hub;
}

}  // namespace crisp::tensor
