#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/ops/crf.h"

namespace crisp::ops {
namespace {

struct Preset {
  const char* name;
  CrfOptions options;
};

// Values as the projects' public code has them. None of them scales with the image by itself: `scale_factor` exists
// in psa and afa, and their callers leave it at 1.
const Preset kPresets[] = {
    // AffinityNet (Ahn and Kwak, 2018), on CAM posteriors.
    {"psa",
     {.spatial_sigma = 3,
      .spatial_weight = 3,
      .bilateral_sigma_xy = 80,
      .bilateral_sigma_rgb = 13,
      .bilateral_weight = 10}},
    // IRNet (Ahn, Cho and Kwak, 2019), on hard CAM labels taken as 0.7 sure (label_probabilities).
    {"irn",
     {.spatial_sigma = 3,
      .spatial_weight = 3,
      .bilateral_sigma_xy = 50,
      .bilateral_sigma_rgb = 5,
      .bilateral_weight = 10}},
    // AFA (Ru et al., 2022), on the network's probabilities at test time.
    {"afa",
     {.spatial_sigma = 3,
      .spatial_weight = 3,
      .bilateral_sigma_xy = 64,
      .bilateral_sigma_rgb = 5,
      .bilateral_weight = 4}},
    // ToCo (Ru et al., 2023), on CAM posteriors. (On its network's probabilities it uses 1, 1, 121, 5, 4.)
    {"toco",
     {.spatial_sigma = 3,
      .spatial_weight = 3,
      .bilateral_sigma_xy = 36,
      .bilateral_sigma_rgb = 3,
      .bilateral_weight = 4}},
    // BECO (Rong et al., 2023), on the network's probabilities; DeepLab's set for VOC.
    {"beco",
     {.spatial_sigma = 1,
      .spatial_weight = 3,
      .bilateral_sigma_xy = 67,
      .bilateral_sigma_rgb = 3,
      .bilateral_weight = 4}},
};

}  // namespace

std::vector<std::string> crf_preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

CrfOptions crf_preset(std::string_view name) {
  for (const Preset& preset : kPresets)
    if (name == preset.name) return preset.options;
  throw UsageError("no CRF preset '{}'; there are {}", name, join(crf_preset_names(), ", "));
}

}  // namespace crisp::ops
