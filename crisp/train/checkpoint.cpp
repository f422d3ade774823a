#include "crisp/train/checkpoint.h"

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::train {
namespace {

constexpr const char* kFormat = "crispformer checkpoint";
constexpr size_t kKept = 2;

}  // namespace

std::vector<Path> CheckpointFolder::files() const {
  if (!std::filesystem::is_directory(folder_)) return {};
  return list_files(folder_, {".safetensors"});  // names have equally many digits, so by name is by step
}

void CheckpointFolder::write(const Checkpoint& checkpoint) const {
  make_folder(folder_);
  for (const auto& item : std::filesystem::directory_iterator(folder_)) {
    // Left by a process that was killed while it wrote; the run's lock says that nobody writes now.
    if (item.path().filename().string().find(".safetensors.tmp-") != std::string::npos)
      std::filesystem::remove(item.path());
  }
  tensor::Metadata facts = checkpoint.facts;
  facts["format"] = kFormat;
  facts["step"] = std::to_string(checkpoint.step);
  tensor::write_safetensors(folder_ / fmt::format("step-{:09d}.safetensors", checkpoint.step), checkpoint.tensors,
                            facts);
  std::vector<Path> all = files();
  for (size_t i = 0; i + kKept < all.size(); ++i) std::filesystem::remove(all[i]);
}

std::optional<Checkpoint> CheckpointFolder::newest() const {
  const std::vector<Path> all = files();
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    try {
      tensor::NamedTensors content = tensor::read_safetensors(*file);
      const auto step = content.metadata.find("step");
      const auto number = step == content.metadata.end() ? std::nullopt : parse_integer(step->second);
      if (content.metadata["format"] != kFormat || !number) throw Error("{}: this is no checkpoint", file->string());
      return Checkpoint{*number, std::move(content.tensors), std::move(content.metadata), *file};
    } catch (const Error& problem) {
      log_warning("{}; trying the checkpoint before it", problem.what());
    }
  }
  if (!all.empty()) throw Error("{}: none of its {} checkpoint(s) can be read", folder_.string(), all.size());
  return std::nullopt;
}

tensor::StateDict with_prefix(const tensor::StateDict& all, const std::string& prefix) {
  tensor::StateDict part;
  for (auto item = all.lower_bound(prefix); item != all.end() && item->first.starts_with(prefix); ++item) {
    part.emplace(item->first.substr(prefix.size()), item->second);
  }
  return part;
}

void add_with_prefix(tensor::StateDict& all, const std::string& prefix, const tensor::StateDict& more) {
  for (const auto& [name, tensor] : more) all.emplace(prefix + name, tensor);
}

}  // namespace crisp::train
