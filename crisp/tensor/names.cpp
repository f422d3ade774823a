#include "crisp/tensor/names.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "crisp/base/error.h"

namespace crisp::tensor {
namespace {

// One layer under each of its names, without the last part (".weight"). {i} is the stage, {I} the stage counted
// from 1, {j} the block. Empty: that style has no such layer. Encoder layers stand below the style's prefix.
struct Layer {
  std::string_view ours, hub, hub5, original;
  bool in_encoder = true;
};

constexpr std::array<Layer, 21> kLayers = {{
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
     "decode_head.linear_c{I}.proj", false},
    {"head.fuse", "decode_head.linear_fuse", "decode_head.linear_fuse", "decode_head.linear_fuse.conv", false},
    {"head.norm", "decode_head.batch_norm", "decode_head.batch_norm", "decode_head.linear_fuse.bn", false},
    {"head.classifier", "decode_head.classifier", "decode_head.classifier", "decode_head.linear_pred", false},
    {"classifier", "classifier", "classifier", "head", false},
    // Never trained: mmsegmentation's base class makes it and the SegFormer head leaves it alone.
    {"", "", "", "decode_head.conv_seg", false},
}};

std::string_view column(const Layer& layer, NameStyle style) {
  switch (style) {
    case NameStyle::kOurs:
      return layer.ours;
    case NameStyle::kHub:
      return layer.hub;
    case NameStyle::kHub5:
      return layer.hub5;
    case NameStyle::kOriginal:
      return layer.original;
    case NameStyle::kUnknown:
      break;
  }
  return "";
}

// What stands before encoder layers in a whole model and is absent in an encoder saved alone.
std::string_view encoder_prefix(NameStyle style) {
  switch (style) {
    case NameStyle::kHub:
    case NameStyle::kHub5:
      return "segformer.";
    case NameStyle::kOriginal:
      return "backbone.";
    default:
      return "";
  }
}

struct Indices {
  int stage = 0, block = 0;
};

// A number without leading zeros at the start of `text`, taken off it.
std::optional<int> take_number(std::string_view& text) {
  constexpr size_t kMostDigits = 4;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits || (digits > 1 && text[0] == '0')) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) value = value * 10 + (c - '0');
  text.remove_prefix(digits);
  return value;
}

std::optional<Indices> match(std::string_view pattern, std::string_view name) {
  Indices found;
  while (!pattern.empty()) {
    if (pattern[0] != '{') {
      if (name.empty() || name[0] != pattern[0]) return std::nullopt;
      name.remove_prefix(1);
      pattern.remove_prefix(1);
      continue;
    }
    const char kind = pattern[1];
    const auto number = take_number(name);
    if (!number || (kind == 'I' && *number == 0)) return std::nullopt;
    (kind == 'j' ? found.block : found.stage) = kind == 'I' ? *number - 1 : *number;
    pattern.remove_prefix(3);
  }
  return name.empty() ? std::optional(found) : std::nullopt;
}

std::string fill(std::string_view pattern, const Indices& indices) {
  std::string text;
  while (!pattern.empty()) {
    if (pattern[0] != '{') {
      text += pattern[0];
      pattern.remove_prefix(1);
      continue;
    }
    text += std::to_string(pattern[1] == 'j' ? indices.block : pattern[1] == 'I' ? indices.stage + 1 : indices.stage);
    pattern.remove_prefix(3);
  }
  return text;
}

struct Found {
  const Layer* layer;
  Indices indices;
  std::string_view leaf;  // ".weight"
};

std::optional<Found> find_layer(std::string_view name, NameStyle style) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view whole = name.substr(0, dot), leaf = name.substr(dot);
  std::string_view below = whole;
  if (below.starts_with(encoder_prefix(style))) {
    below.remove_prefix(encoder_prefix(style).size());
  } else if (style == NameStyle::kOriginal && below.starts_with("encoder.")) {
    below.remove_prefix(8);  // weakly supervised projects built on the authors' encoder call it so
  }
  for (const Layer& layer : kLayers) {
    const std::string_view pattern = column(layer, style);
    if (pattern.empty()) continue;
    if (const auto indices = match(pattern, layer.in_encoder ? below : whole)) return Found{&layer, *indices, leaf};
  }
  return std::nullopt;
}

// Both tensors, of one shape, along the first dimension. Not torch::cat: it starts and joins threads each time,
// which for a hundred small tensors takes longer than the copying.
torch::Tensor stacked(const torch::Tensor& first, const torch::Tensor& second) {
  if (!first.is_cpu() || !second.is_cpu()) return torch::cat({first, second});
  std::vector<int64_t> shape = first.sizes().vec();
  shape[0] *= 2;
  torch::Tensor both = torch::empty(shape, first.options());
  const torch::Tensor dense[] = {first.contiguous(), second.contiguous()};
  auto* to = static_cast<std::byte*>(both.mutable_data_ptr());
  for (const torch::Tensor& half : dense) {
    if (half.nbytes() > 0) std::memcpy(to, half.const_data_ptr(), half.nbytes());
    to += half.nbytes();
  }
  return both;
}

// Keys and values of one attention become one tensor, keys first. Halves that do not fit each other stay apart:
// loading then reports them by name.
void join_keys_and_values(StateDict& state) {
  constexpr std::string_view kKey = ".attn.key.";
  StateDict joined;
  for (auto item = state.begin(); item != state.end();) {
    const size_t at = item->first.find(kKey);
    if (at == std::string::npos) {
      ++item;
      continue;
    }
    const std::string stem = item->first.substr(0, at), leaf = item->first.substr(at + kKey.size());
    const auto value = state.find(stem + ".attn.value." + leaf);
    const torch::Tensor& keys = item->second;
    if (value == state.end() || keys.dim() == 0 || keys.sizes() != value->second.sizes() ||
        keys.scalar_type() != value->second.scalar_type()) {
      ++item;
      continue;
    }
    joined[stem + ".attn.kv." + leaf] = stacked(keys, value->second);
    state.erase(value);
    item = state.erase(item);
  }
  state.merge(joined);
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
    case NameStyle::kUnknown:
      break;
  }
  return "unknown names";
}

NameStyle detect_style(const StateDict& state) {
  NameStyle best = NameStyle::kUnknown;
  int64_t most = 0;
  for (const NameStyle style : {NameStyle::kOurs, NameStyle::kHub, NameStyle::kHub5, NameStyle::kOriginal}) {
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
    std::string renamed = name;
    if (const auto found = find_layer(name, style)) {
      if (found->layer->ours.empty()) continue;
      renamed = fill(found->layer->ours, found->indices) + std::string(found->leaf);
    }
    if (!ours.emplace(renamed, tensor).second) {
      throw Error("two tensors of the file are both '{}', one of them called '{}'", renamed, name);
    }
  }
  join_keys_and_values(ours);
  return ours;
}

StateDict to_hub_names(const StateDict& state) {
  StateDict ours = state;
  split_keys_and_values(ours);
  StateDict hub;
  for (const auto& [name, tensor] : ours) {
    const auto found = find_layer(name, NameStyle::kOurs);
    if (!found || found->layer->hub.empty()) {
      hub[name] = tensor;
      continue;
    }
    const std::string_view prefix = found->layer->in_encoder ? encoder_prefix(NameStyle::kHub) : "";
    hub[std::string(prefix) + fill(found->layer->hub, found->indices) + std::string(found->leaf)] = tensor;
  }
  return hub;
}

}  // namespace crisp::tensor
