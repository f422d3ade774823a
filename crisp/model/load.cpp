#include "crisp/model/load.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/model/foundation.h"

namespace crisp::model {
namespace {

ClassNames class_names(const tensor::Checkpoint& checkpoint) {
  if (!checkpoint.classes.empty()) return checkpoint.classes;
  if (checkpoint.class_count == static_cast<int64_t>(voc_classes().size())) return voc_classes();
  return read_classes(std::to_string(checkpoint.class_count));
}

// Its tensors give the widths and depths of an encoder that is none of the known ones.
void read_custom_shape(const tensor::Checkpoint& checkpoint, EncoderConfig& config) {
  for (size_t i = 0; i < 4; ++i) {
    const std::string first = fmt::format("encoder.stages.{}.embed.proj.weight", i);
    const auto embed = checkpoint.tensors.find(first);
    if (embed == checkpoint.tensors.end()) {
      throw Error("{}: no tensor {}: not a MiT encoder", checkpoint.file.string(), first);
    }
    config.dims[i] = embed->second.size(0);
    config.depths[i] = 0;
    const auto block = [&] { return fmt::format("encoder.stages.{}.blocks.{}.norm1.weight", i, config.depths[i]); };
    while (checkpoint.tensors.contains(block())) ++config.depths[i];
    if (config.dims[i] % config.heads[i] != 0) {
      throw Error("{}: stage {} has {} channels, which {} attention heads do not divide", checkpoint.file.string(),
                  i + 1, config.dims[i], config.heads[i]);
    }
  }
}

SegmenterConfig config_of(const tensor::Checkpoint& checkpoint) {
  if (checkpoint.head == "none" && checkpoint.arch == "unknown") {
    throw Error("{}: neither an encoder nor a head is in it ({}); it cannot segment", checkpoint.file.string(),
                checkpoint.description);
  }
  if (checkpoint.head == "none") {
    throw Error(
        "{}: this is an encoder without a segmentation head ({}); it can start a training (--init), but it cannot "
        "segment by itself",
        checkpoint.file.string(), checkpoint.description);
  }
  if (checkpoint.head == "tags" || checkpoint.head == "affinity") {
    throw Error(
        "{}: this network serves to make seeds ({}); it cannot segment by itself: `crispformer train` learns a model "
        "that can",
        checkpoint.file.string(), checkpoint.description);
  }
  SegmenterConfig config;
  config.encoder = encoder_shape_of(checkpoint);
  const bool plain = parse_head(checkpoint.head) == HeadKind::kSegformer;
  config.head = ablation_row(plain ? "A0" : "A6", checkpoint.width, checkpoint.class_count);
  read_json_text(checkpoint.options, checkpoint.file.string(), config.head);
  config.classes = class_names(checkpoint);
  if (!config.head.offsets.empty() && static_cast<int64_t>(config.head.offsets.size()) != config.head.classes) {
    throw Error("{}: the file has {} offsets but its head has {} outputs", checkpoint.file.string(),
                config.head.offsets.size(), config.head.classes);
  }
  if (static_cast<int64_t>(config.classes.size()) != config.head.classes) {
    throw Error("{}: the file names {} classes but its head has {} outputs", checkpoint.file.string(),
                config.classes.size(), config.head.classes);
  }
  return config;
}

}  // namespace

Path model_inside(const Path& file_or_run) {
  // A hub folder has a config.json beside its model and is read whole.
  const Path model = file_or_run / "model.safetensors";
  const bool run = std::filesystem::exists(model) && !std::filesystem::exists(file_or_run / "config.json");
  return run ? model : file_or_run;
}

EncoderConfig encoder_shape_of(const tensor::Checkpoint& checkpoint) {
  EncoderConfig config;
  if (checkpoint.arch == "custom" || checkpoint.arch == "unknown") {
    read_custom_shape(checkpoint, config);
    config.arch = "custom";
  } else if (is_vit(checkpoint.arch)) {
    read_view(checkpoint, config);
  } else {
    config = encoder_config(checkpoint.arch);
  }
  config.layer_norm_eps = checkpoint.layer_norm_eps;
  return config;
}

Segmenter load_segmenter(const Path& file_or_folder) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(model_inside(file_or_folder));
  Segmenter network(config_of(checkpoint));
  tensor::load_into(*network, checkpoint.tensors, checkpoint.file.string(),
                    {.may_be_missing = {}, .may_be_extra = {"classifier."}});
  find_foundation(checkpoint, *network->encoder);
  network->eval();
  return network;
}

void load_encoder(EncoderImpl& encoder, const Path& file_or_folder) {
  tensor::Checkpoint checkpoint = tensor::read_checkpoint(model_inside(file_or_folder));
  const std::string prefix = "encoder.";
  tensor::StateDict inner;
  for (const auto& [name, value] : checkpoint.tensors) {
    if (name.starts_with(prefix)) inner.emplace(name.substr(prefix.size()), value);
  }
  tensor::load_into(encoder, inner, checkpoint.file.string());
}

void save_segmenter(const Path& path, const Segmenter& network, torch::ScalarType type, const tensor::Metadata& extra) {
  const SegmenterConfig& config = network->config;
  tensor::Metadata facts = extra;
  describe_foundation(*network->encoder, facts);
  const tensor::ModelMeta meta{.arch = config.encoder.arch,
                               .head = name_of(config.head.kind),
                               .width = config.head.width,
                               .classes = config.classes,
                               .layer_norm_eps = config.encoder.layer_norm_eps,
                               .options = to_json_text(config.head),
                               .extra = facts};
  tensor::write_model_file(path, tensor::state_of(*network), meta, type);
}

void save_changed(const Path& path, const Segmenter& network, const Path& origin, const tensor::Metadata& more) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(model_inside(origin));
  const auto half = [](const auto& item) { return item.second.scalar_type() == torch::kHalf; };
  const bool halved = std::any_of(checkpoint.tensors.begin(), checkpoint.tensors.end(), half);
  tensor::Metadata extra;
  if (tensor::is_model_file(checkpoint.metadata)) {
    extra = tensor::read_model_meta(checkpoint.metadata, checkpoint.file.string()).extra;
  }
  for (const auto& [name, value] : more) extra[name] = value;
  save_segmenter(path, network, halved ? torch::kHalf : torch::kFloat, extra);
}

}  // namespace crisp::model
