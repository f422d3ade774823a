#include "crisp/tensor/model_file.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/tensor/json_text.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::tensor {
namespace {

constexpr const char* kFormat = "crispformer";
constexpr int64_t kVersion = 1;

const std::string& field(const Metadata& metadata, const std::string& name, const std::string& source) {
  const auto found = metadata.find(name);
  if (found == metadata.end()) throw Error("{}: the model's metadata lacks '{}'", source, name);
  return found->second;
}

// Storing in half the bytes must not turn a finite weight into infinity.
torch::Tensor converted(const torch::Tensor& tensor, torch::ScalarType type) {
  if (!tensor.is_floating_point()) return tensor;
  const torch::Tensor plain = tensor.detach();
  if (type == torch::kFloat16 && plain.numel() > 0 && !(plain.abs().max().item<double>() <= 65504.0)) {
    return plain.to(torch::kFloat32);
  }
  return plain.to(type);
}

}  // namespace

bool is_model_file(const Metadata& metadata) {
  const auto found = metadata.find("format");
  return found != metadata.end() && found->second == kFormat;
}

ModelMeta read_model_meta(const Metadata& metadata, const std::string& source) {
  const auto version = parse_integer(field(metadata, "format_version", source));
  if (!version || *version < 1) throw Error("{}: 'format_version' of the model is not a number", source);
  if (*version > kVersion) {
    throw Error("{}: model format {} was written by a newer version of this program, which reads up to {}", source,
                *version, kVersion);
  }
  ModelMeta meta;
  meta.arch = field(metadata, "arch", source);
  meta.head = field(metadata, "head", source);
  constexpr std::array kHeads = {"segformer", "crispformer", "tags", "affinity", "none"};
  if (std::find(kHeads.begin(), kHeads.end(), meta.head) == kHeads.end()) {
    throw Error("{}: the model's head '{}' is unknown", source, meta.head);
  }
  const auto width = parse_integer(field(metadata, "width", source));
  if (!width || *width < 0 || *width > 65536) throw Error("{}: the model's 'width' is not a sensible number", source);
  meta.width = *width;
  const auto epsilon = parse_number(field(metadata, "layer_norm_eps", source));
  if (!epsilon || !(*epsilon > 0.0 && *epsilon < 1.0)) {
    throw Error("{}: the model's 'layer_norm_eps' is not a number between 0 and 1", source);
  }
  meta.layer_norm_eps = *epsilon;
  const nlohmann::json classes = parse_json(field(metadata, "classes", source), source + ": 'classes'");
  if (!classes.is_array()) throw Error("{}: the model's 'classes' is not a list of names", source);
  for (const auto& name : classes) {
    if (!name.is_string()) throw Error("{}: the model's 'classes' is not a list of names", source);
    meta.classes.push_back(name.get<std::string>());
  }
  meta.options = field(metadata, "options", source);
  if (!parse_json(meta.options, source + ": 'options'").is_object()) {
    throw Error("{}: the model's 'options' is not a JSON object", source);
  }
  for (const auto& [name, value] : metadata) {
    constexpr std::array kOwn = {"format", "format_version", "arch",           "head",
                                 "width",  "classes",        "layer_norm_eps", "options"};
    if (std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end()) meta.extra[name] = value;
  }
  return meta;
}

void write_model_file(const Path& path, const StateDict& tensors, const ModelMeta& meta, torch::ScalarType type) {
  Metadata metadata = meta.extra;
  metadata["format"] = kFormat;
  metadata["format_version"] = std::to_string(kVersion);
  metadata["arch"] = meta.arch;
  metadata["head"] = meta.head;
  metadata["width"] = std::to_string(meta.width);
  metadata["classes"] = dump_json(meta.classes, path.string() + ": class names");
  metadata["layer_norm_eps"] = fmt::format("{}", meta.layer_norm_eps);
  metadata["options"] = meta.options;
  StateDict stored;
  for (const auto& [name, tensor] : tensors) stored[name] = converted(tensor, type);
  write_safetensors(path, stored, metadata);
}

}  // namespace crisp::tensor
