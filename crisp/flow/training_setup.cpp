#include "crisp/flow/training_setup.h"

#include "crisp/base/error.h"
#include "crisp/base/resources.h"
#include "crisp/model/vit_config.h"

namespace crisp::flow {

std::string held_out_split(const data::Dataset& dataset, const std::string& val, const std::string& split) {
  if (val == "none") return "";
  if (val != "auto") return dataset.resolve_split(val);
  for (const auto& [name, places] : dataset.splits) {
    if (name.starts_with("val") && name != split) return name;
  }
  return "";
}

Path initial_weights(const std::string& arch, const std::string& init) {
  if (!init.empty()) return init == "none" ? Path() : Path(init);
  const Path shipped = shipped_weights(model::is_vit(arch) ? model::vit_weights_name(arch) : arch + ".safetensors");
  if (shipped.empty()) {
    throw UsageError("--init is needed: no {} weights are shipped; give a file, or --init none to start from nothing",
                     arch);
  }
  return shipped;
}

data::AugmentOptions light_augmentation() {
  return {.crop = -1,
          .scale_low = 0.75,
          .scale_high = 1.5,
          .brightness = 0.2,
          .contrast = 0.2,
          .saturation = 0.2,
          .hue = 0.02,
          .blur = 0,
          .grey = 0};
}

}  // namespace crisp::flow
