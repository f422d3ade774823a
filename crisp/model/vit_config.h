#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crisp::model {

// How the learned square of position embeddings is fitted to another number of patches, bicubic both times: by a
// factor with 0.1 patches added, as DINOv2's own code does, or to a size, as transformers does.
enum class Positions { kOriginal, kTransformers };

// The shape of a plain vision transformer as DINOv2 has them (Oquab et al. 2023).
struct VitConfig {
  std::string arch = "vit_s14";
  int64_t dim = 384, depth = 12, heads = 6;
  int64_t patch = 14;  // pixels on a side
  int64_t grid = 37;   // patches on a side of the square that positions were learned on
  int64_t mlp_ratio = 4;
  double layer_norm_eps = 1e-6;
  Positions positions = Positions::kOriginal;
};

// "vit_s14", "vit_b14", "vit_l14"; an unknown name is an error that lists these.
VitConfig vit_config(const std::string& arch);
const std::vector<std::string>& known_vits();

// Whether `arch` is one of these names.
bool is_vit(const std::string& arch);

// How DINOv2's weights of it are called: "dinov2_vits14.safetensors".
std::string vit_weights_name(const std::string& arch);

std::string name_of(Positions positions);  // "original", "transformers"
Positions parse_positions(const std::string& name);

}  // namespace crisp::model
