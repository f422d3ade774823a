#include "crisp/tensor/hub.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/tensor/json_text.h"
#include "crisp/tensor/pth.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::tensor {
namespace {

constexpr int64_t kMostClasses = 65536;
constexpr uintmax_t kLongestConfig = 64 << 20;

nlohmann::json read_json(const Path& file) {
  std::error_code code;
  const uintmax_t size = std::filesystem::file_size(file, code);
  if (!code && size > kLongestConfig)
    throw Error("{}: too large for a JSON file ({})", file.string(), format_bytes(size));
  nlohmann::json value = parse_json(read_text(file), file.string());
  if (!value.is_object()) throw Error("{}: a JSON object was expected", file.string());
  return value;
}

std::array<int64_t, 4> four_numbers(const nlohmann::json& config, const char* key, const Path& file) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_array() || found->size() != 4) {
    throw Error("{}: '{}' is not a list of four numbers", file.string(), key);
  }
  std::array<int64_t, 4> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!(*found)[i].is_number_unsigned()) throw Error("{}: '{}' is not a list of four numbers", file.string(), key);
    numbers[i] = (*found)[i].get<int64_t>();
  }
  return numbers;
}

int64_t whole_number(const nlohmann::json& config, const char* key, int64_t otherwise, const Path& file) {
  constexpr int64_t kMost = 1 << 20;
  const auto found = config.find(key);
  if (found == config.end()) return otherwise;
  const bool whole = found->is_number() && found->get<double>() == std::floor(found->get<double>());
  if (!whole || found->get<double>() < 1 || found->get<double>() > kMost) {
    throw Error("{}: '{}' is not a whole number of at least 1", file.string(), key);
  }
  return static_cast<int64_t>(found->get<double>());
}

// Keys that are left out have the values of transformers' Dinov2Config.
HubVit read_vit(const nlohmann::json& config, const Path& file) {
  HubVit vit;
  vit.shape.dim = whole_number(config, "hidden_size", 768, file);
  vit.shape.depth = whole_number(config, "num_hidden_layers", 12, file);
  vit.shape.patch = whole_number(config, "patch_size", 14, file);
  vit.shape.grid = whole_number(config, "image_size", 224, file) / vit.shape.patch;
  vit.shape.mlp_ratio = whole_number(config, "mlp_ratio", 4, file);
  vit.heads = whole_number(config, "num_attention_heads", 12, file);
  if (vit.shape.dim % vit.heads != 0) {
    throw Error("{}: {} attention heads do not divide {} channels", file.string(), vit.heads, vit.shape.dim);
  }
  if (const auto eps = config.find("layer_norm_eps"); eps != config.end()) {
    if (!eps->is_number() || !(eps->get<double>() > 0)) throw Error("{}: 'layer_norm_eps' is bad", file.string());
    vit.layer_norm_eps = eps->get<double>();
  }
  if (const auto activation = config.find("hidden_act"); activation != config.end() && *activation != "gelu") {
    throw Error("{}: 'hidden_act' is {}, only \"gelu\" is supported", file.string(),
                dump_json(*activation, file.string()));
  }
  return vit;
}

std::vector<std::string> class_names(const nlohmann::json& labels, const Path& file) {
  if (!labels.is_object()) throw Error("{}: 'id2label' is not an object", file.string());
  std::map<int64_t, std::string> by_id;
  for (const auto& [key, name] : labels.items()) {
    const auto id = parse_integer(key);
    if (!id || *id < 0 || *id >= kMostClasses || !name.is_string()) {
      throw Error("{}: 'id2label' has the bad entry '{}'", file.string(), key);
    }
    by_id[*id] = name.get<std::string>();
  }
  std::vector<std::string> names;
  for (auto& [id, name] : by_id) {
    while (static_cast<int64_t>(names.size()) < id) names.push_back(fmt::format("class {}", names.size()));
    names.push_back(std::move(name));
  }
  return names;
}

// The index names, for every tensor, the file beside it that holds it.
StateDict read_shards(const Path& index) {
  const nlohmann::json value = read_json(index);
  const auto map = value.find("weight_map");
  if (map == value.end() || !map->is_object()) throw Error("{}: 'weight_map' is missing", index.string());
  std::set<std::string> files;
  for (const auto& [name, file] : map->items()) {
    // A plain name only, so that an index cannot point outside its folder.
    if (!file.is_string() || Path(file.get<std::string>()).filename() != file.get<std::string>()) {
      throw Error("{}: the shard of '{}' is not a file name", index.string(), name);
    }
    files.insert(file.get<std::string>());
  }
  StateDict tensors;
  for (const std::string& file : files) tensors.merge(read_safetensors(index.parent_path() / file).tensors);
  return tensors;
}

}  // namespace

bool is_hub_folder(const Path& folder) { return std::filesystem::is_regular_file(folder / "config.json"); }

HubConfig read_hub_config(const Path& config_file) {
  const nlohmann::json value = read_json(config_file);
  const auto type = value.find("model_type");
  // The one with registers is refused by the name of its tensor.
  const bool dino = type != value.end() && (*type == "dinov2" || *type == "dinov2_with_registers");
  if (type != value.end() && !dino && *type != "segformer") {
    throw Error("{}: this is a model of type {}, a segformer or dinov2 was expected", config_file.string(),
                dump_json(*type, config_file.string()));
  }
  HubConfig config;
  if (dino) {
    config.vit = read_vit(value, config_file);
  } else {
    config.encoder = {four_numbers(value, "hidden_sizes", config_file), four_numbers(value, "depths", config_file)};
  }
  if (const auto width = value.find("decoder_hidden_size"); width != value.end() && width->is_number_unsigned()) {
    config.width = width->get<int64_t>();
  }
  if (const auto labels = value.find("id2label"); labels != value.end() && !labels->is_null()) {
    config.classes = class_names(*labels, config_file);
  }
  return config;
}

HubWeights read_hub_weights(const Path& folder) {
  const auto there = [&](const char* name) { return std::filesystem::exists(folder / name); };
  if (there("model.safetensors")) {
    return {read_safetensors(folder / "model.safetensors").tensors, folder / "model.safetensors"};
  }
  if (there("model.safetensors.index.json")) {
    return {read_shards(folder / "model.safetensors.index.json"), folder / "model.safetensors.index.json"};
  }
  if (there("pytorch_model.bin")) return {read_pth(folder / "pytorch_model.bin"), folder / "pytorch_model.bin"};
  throw Error("{}: this folder has a config.json but neither model.safetensors nor pytorch_model.bin", folder.string());
}

}  // namespace crisp::tensor
