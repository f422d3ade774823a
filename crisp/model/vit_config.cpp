#include "crisp/model/vit_config.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::model {

const std::vector<std::string>& known_vits() {
  static const std::vector<std::string> names = {"vit_s14", "vit_b14", "vit_l14"};
  return names;
}

bool is_vit(const std::string& arch) { return std::ranges::find(known_vits(), arch) != known_vits().end(); }

std::string vit_weights_name(const std::string& arch) {
  std::string joined = vit_config(arch).arch;
  std::erase(joined, '_');
  return "dinov2_" + joined + ".safetensors";
}

VitConfig vit_config(const std::string& arch) {
  if (arch == "vit_s14") return {.arch = arch};
  if (arch == "vit_b14") return {.arch = arch, .dim = 768, .heads = 12};
  if (arch == "vit_l14") return {.arch = arch, .dim = 1024, .depth = 24, .heads = 16};
  throw UsageError("unknown arch '{}': it is one of {}", arch, join(known_vits(), ", "));
}

std::string name_of(Positions positions) { return positions == Positions::kOriginal ? "original" : "transformers"; }

Positions parse_positions(const std::string& name) {
  if (name == "original") return Positions::kOriginal;
  if (name == "transformers") return Positions::kTransformers;
  throw Error("unknown way to fit positions '{}': it is original or transformers", name);
}

}  // namespace crisp::model
