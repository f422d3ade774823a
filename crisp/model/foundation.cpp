#include "crisp/model/foundation.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/resources.h"
#include "crisp/base/text.h"
#include "crisp/model/load.h"
#include "crisp/tensor/json_text.h"

namespace crisp::model {
namespace {

constexpr const char* kKey = "frozen_encoder";  // in a model file's metadata

nlohmann::json facts_of(const tensor::Checkpoint& checkpoint) {
  const std::string source = checkpoint.file.string() + ": '" + kKey + "'";
  const auto text = checkpoint.metadata.find(kKey);
  if (text == checkpoint.metadata.end()) {
    throw Error("{}: the model stands on {}, but its metadata do not say on which file ('{}' is missing)",
                checkpoint.file.string(), checkpoint.arch, kKey);
  }
  return tensor::parse_json(text->second, source);
}

[[noreturn]] void unreadable(const tensor::Checkpoint& checkpoint, const char* why) {
  throw Error("{}: what the model says of its frozen encoder ('{}') cannot be read: {}", checkpoint.file.string(), kKey,
              why);
}

int64_t number_in(const nlohmann::json& facts, const char* name, int64_t low, int64_t high) {
  const int64_t value = facts.at(name).get<int64_t>();
  if (value < low || value > high) throw Error("'{}' is {}; it lies between {} and {}", name, value, low, high);
  return value;
}

}  // namespace

VitScalesImpl* vit_scales(EncoderImpl& encoder) { return dynamic_cast<VitScalesImpl*>(&encoder); }

std::shared_ptr<FrozenVit> frozen_of(EncoderImpl& encoder) {
  VitScalesImpl* scales = vit_scales(encoder);
  return scales == nullptr ? nullptr : scales->vit();
}

void share_foundation(EncoderImpl& from, EncoderImpl& to) {
  const std::shared_ptr<FrozenVit> vit = frozen_of(from);
  if (vit) vit_scales(to)->stand_on(vit);
}

void describe_foundation(EncoderImpl& encoder, tensor::Metadata& facts) {
  VitScalesImpl* scales = vit_scales(encoder);
  if (scales == nullptr) return;
  if (!scales->vit())
    throw Error("a network on {} cannot be saved before it was given that encoder", scales->config.arch);
  const VitView& view = *scales->config.vit;
  facts[kKey] = nlohmann::json{
      {"file", scales->vit()->file.filename().string()},
      {"sha256", to_hex(scales->vit()->sha256)},
      {"blocks", view.blocks},
      {"side", view.side},
      {"fine", view.fine},
      {"outline", view.outline},
      {"detail",
       view.detail}}.dump();
}

void read_view(const tensor::Checkpoint& checkpoint, EncoderConfig& config) {
  const nlohmann::json facts = facts_of(checkpoint);
  const VitConfig vit = vit_config(checkpoint.arch);
  try {
    VitView view{.patch = vit.patch};
    view.blocks = facts.at("blocks").get<std::vector<int64_t>>();
    view.side = number_in(facts, "side", vit.patch, 14000);
    view.fine = number_in(facts, "fine", 1, vit.patch);
    view.outline = number_in(facts, "outline", 1, vit.patch);
    view.detail = number_in(facts, "detail", 0, 4096);
    if (view.blocks.empty() || view.blocks.size() > 3 || view.side % vit.patch != 0) {
      throw Error("one to three blocks, and a side that is a multiple of {}", vit.patch);
    }
    config = encoder_config(checkpoint.arch, view);
  } catch (const std::exception& problem) {
    unreadable(checkpoint, problem.what());
  }
}

namespace {

// The file of that sha256 beside the model, then among the weights shipped.
std::shared_ptr<FrozenVit> named_by(const tensor::Checkpoint& checkpoint) {
  const nlohmann::json facts = facts_of(checkpoint);
  std::string file, sha;
  try {
    file = facts.at("file").get<std::string>();
    sha = facts.at("sha256").get<std::string>();
  } catch (const std::exception& problem) {
    unreadable(checkpoint, problem.what());
  }
  if (Path(file).filename().string() != file) unreadable(checkpoint, "'file' is a plain file name");
  std::vector<std::string> others;
  for (const Path& place : {checkpoint.file.parent_path() / file, shipped_weights(file)}) {
    if (place.empty() || !std::filesystem::exists(place)) continue;
    const std::string found = to_hex(sha256_of_file(place));
    if (found == sha) return load_frozen_vit(place);
    others.push_back(fmt::format("{} is another file (sha256 {}...)", place.string(), found.substr(0, 12)));
  }
  throw Error(
      "{}: the model stands on the frozen encoder {} (sha256 {}...), which is not there{}{}; put that file "
      "beside the model",
      checkpoint.file.string(), file, sha.substr(0, 12), others.empty() ? "" : ": ", join(others, ", "));
}

}  // namespace

void find_foundation(const tensor::Checkpoint& checkpoint, EncoderImpl& encoder) {
  if (VitScalesImpl* scales = vit_scales(encoder)) scales->stand_on(named_by(checkpoint));
}

std::string foundation_named_in(const Path& model_file) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(model_file);
  if (!checkpoint.metadata.contains(kKey)) return "";
  return facts_of(checkpoint).value("sha256", "");
}

std::shared_ptr<FrozenVit> load_foundation(const Path& encoder_or_model) {
  const Path file = model_inside(encoder_or_model);
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(file);
  return checkpoint.metadata.contains(kKey) ? named_by(checkpoint) : load_frozen_vit(file);
}

}  // namespace crisp::model
