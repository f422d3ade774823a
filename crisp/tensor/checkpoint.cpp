#include "crisp/tensor/checkpoint.h"

#include "crisp/base/error.h"
#include "crisp/tensor/arch.h"
#include "crisp/tensor/device.h"
#include "crisp/tensor/hub.h"
#include "crisp/tensor/model_file.h"
#include "crisp/tensor/pth.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::tensor {
namespace {

int64_t rows_of(const StateDict& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() || found->second.dim() == 0 ? 0 : found->second.size(0);
}

std::string head_kind(const StateDict& tensors) {
  if (tensors.contains("head.fuse.weight") && tensors.contains("head.proj.0.weight")) return "segformer";
  const auto first = tensors.lower_bound("head.");
  return first != tensors.end() && first->first.starts_with("head.") ? "crispformer" : "none";
}

// The dtype of most elements.
std::string main_type(const StateDict& tensors) {
  std::map<std::string, int64_t> counts;
  for (const auto& [name, tensor] : tensors) counts[dtype_name(tensor.scalar_type())] += tensor.numel();
  std::string best = "no";
  int64_t most = -1;
  for (const auto& [name, count] : counts) {
    if (count > most) best = name;
    most = std::max(most, count);
  }
  return best;
}

// What the tensors themselves show; fields already stated by the source are not touched.
void fill_from_tensors(Checkpoint& checkpoint) {
  const StateDict& tensors = checkpoint.tensors;
  const auto shape = encoder_shape(tensors);
  const auto vit = vit_shape(tensors);
  const std::string seen = shape ? arch_name(*shape) : vit ? arch_name(*vit) : "unknown";
  if (checkpoint.arch.empty()) {
    checkpoint.arch = seen;
  } else if ((shape || vit) && checkpoint.arch != seen) {
    throw Error("{}: states the architecture {} but holds the tensors of {}", checkpoint.file.string(), checkpoint.arch,
                seen);
  }
  if (checkpoint.head.empty()) checkpoint.head = head_kind(tensors);
  const bool segments = checkpoint.head == "segformer" || checkpoint.head == "crispformer";
  if (segments) {
    // The loader makes a network of this width before it compares tensors, so a stated one must be true.
    const auto classifier = tensors.find("head.classifier.weight");
    const int64_t width = classifier != tensors.end() && classifier->second.dim() > 1 ? classifier->second.size(1) : 0;
    if (checkpoint.width != 0 && checkpoint.width != width) {
      throw Error("{}: states a head of width {} but holds one of width {}", checkpoint.file.string(), checkpoint.width,
                  width);
    }
    checkpoint.width = width;
  }
  checkpoint.class_count = rows_of(tensors, segments ? "head.classifier.weight" : "classifier.weight");
  if (checkpoint.head == "tags") ++checkpoint.class_count;  // the background has no score
  const auto named = static_cast<int64_t>(checkpoint.classes.size());
  if (named > 0 && checkpoint.class_count > 0 && named != checkpoint.class_count) {
    throw Error("{}: names {} classes but its classifier has {}", checkpoint.file.string(), named,
                checkpoint.class_count);
  }
}

void describe(Checkpoint& checkpoint, const std::string& container) {
  std::string text = fmt::format("{}, {}, {}", container, style_name(checkpoint.style), checkpoint.arch);
  if (checkpoint.head == "tags") text += ", tag classifier";
  if (checkpoint.head == "affinity") text += ", affinity head";
  if (checkpoint.width > 0) text += fmt::format(", head {} of width {}", checkpoint.head, checkpoint.width);
  if (checkpoint.class_count > 0) text += fmt::format(", {} classes", checkpoint.class_count);
  checkpoint.description = fmt::format("{}, {}", text, main_type(checkpoint.tensors));
}

void take_tensors(Checkpoint& checkpoint, const StateDict& tensors) {
  checkpoint.style = detect_style(tensors);
  try {
    checkpoint.tensors = to_our_names(tensors, checkpoint.style);
  } catch (const Error& problem) {
    throw Error("{}: {}", checkpoint.file.string(), problem.what());
  }
  const bool original = checkpoint.style == NameStyle::kOriginal || vit_shape(checkpoint.tensors).has_value();
  checkpoint.layer_norm_eps = original ? 1e-6 : 1e-5;
}

Checkpoint read_folder(const Path& folder) {
  if (!is_hub_folder(folder)) {
    throw Error("{}: this folder has no config.json; give a weight file or a folder as the hub has them",
                folder.string());
  }
  HubConfig config = read_hub_config(folder / "config.json");
  const HubWeights weights = read_hub_weights(folder);
  Checkpoint checkpoint;
  checkpoint.file = weights.file;
  take_tensors(checkpoint, weights.tensors);
  if (config.vit) {
    checkpoint.arch = arch_name(config.vit->shape);
    checkpoint.heads = config.vit->heads;
    checkpoint.layer_norm_eps = config.vit->layer_norm_eps;
  } else {
    checkpoint.arch = arch_name(config.encoder);
  }
  checkpoint.classes = std::move(config.classes);
  fill_from_tensors(checkpoint);
  if (checkpoint.class_count == 0) checkpoint.classes.clear();  // defaults written for an encoder alone
  describe(checkpoint, "hub folder");
  return checkpoint;
}

Checkpoint read_safetensors_file(const Path& path) {
  NamedTensors content = read_safetensors(path);
  Checkpoint checkpoint;
  checkpoint.file = path;
  take_tensors(checkpoint, content.tensors);
  std::string container = "safetensors file";
  if (is_model_file(content.metadata)) {
    ModelMeta meta = read_model_meta(content.metadata, path.string());
    checkpoint.arch = std::move(meta.arch);
    checkpoint.head = std::move(meta.head);
    checkpoint.width = meta.width;
    checkpoint.classes = std::move(meta.classes);
    checkpoint.layer_norm_eps = meta.layer_norm_eps;
    checkpoint.options = std::move(meta.options);
    container = "model file";
  }
  checkpoint.metadata = std::move(content.metadata);
  fill_from_tensors(checkpoint);
  describe(checkpoint, container);
  return checkpoint;
}

Checkpoint read_pth_file(const Path& path) {
  Checkpoint checkpoint;
  checkpoint.file = path;
  take_tensors(checkpoint, read_pth(path));
  fill_from_tensors(checkpoint);
  describe(checkpoint, "PyTorch file");
  return checkpoint;
}

}  // namespace

Checkpoint read_checkpoint(const Path& path) {
  if (std::filesystem::is_directory(path)) return read_folder(path);
  const std::string extension = lower_extension(path);
  if (extension == ".pth" || extension == ".pt" || extension == ".bin" || extension == ".ckpt") {
    return read_pth_file(path);
  }
  if (extension != ".safetensors" && is_pth(path)) return read_pth_file(path);
  return read_safetensors_file(path);
}

}  // namespace crisp::tensor
