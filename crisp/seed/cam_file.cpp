#include "crisp/seed/cam_file.h"

#include <algorithm>
#include <map>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/image/resize.h"
#include "crisp/tensor/npy.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::seed {
namespace {

using Maps = std::map<int64_t, torch::Tensor>;  // by the file's own class number

Maps from_arrays(const Path& path, const tensor::pickle::Value& root) {
  const auto* keys = root.find("keys")->tensor();
  if (keys == nullptr || keys->dim() != 1) throw Error("{}: 'keys' is not a vector of classes", path.string());
  const torch::Tensor* stack = nullptr;
  for (const char* name : {"high_res", "attn_highres", "cam"}) {
    if (stack == nullptr && root.find(name) != nullptr) stack = root.find(name)->tensor();
  }
  if (stack == nullptr) throw Error("{}: no array 'cam', 'high_res' or 'attn_highres' beside 'keys'", path.string());
  if (stack->dim() != 3 || stack->size(0) != keys->numel()) {
    throw Error("{}: {} classes, but maps of shape {}", path.string(), keys->numel(),
                tensor::shape_text(stack->sizes()));
  }
  Maps maps;
  const torch::Tensor numbers = keys->to(torch::kLong);
  for (int64_t i = 0; i < numbers.numel(); ++i) maps[numbers[i].item<int64_t>()] = (*stack)[i];
  return maps;
}

Maps from_dict(const Path& path, const tensor::pickle::Dict& entries) {
  Maps maps;
  for (const auto& [key, value] : entries) {
    const auto number = key->integer();
    const torch::Tensor* map = value->tensor();
    if (!number || map == nullptr || map->dim() != 2) {
      throw Error("{}: an entry is not a class number with a map of two dimensions ({}: {})", path.string(),
                  key->describe(), value->describe());
    }
    maps[*number] = *map;
  }
  return maps;
}

Maps read_maps(const Path& path) {
  if (lower_extension(path) == ".safetensors") {
    Maps maps;
    for (const auto& [name, map] : tensor::read_safetensors(path).tensors) {
      const auto number = parse_integer(name);
      if (!number) throw Error("{}: the tensor '{}' is not named by the number of a class", path.string(), name);
      maps[*number] = map;
    }
    return maps;
  }
  const tensor::pickle::Document document = tensor::read_npy_object(path);
  const auto* entries = document.root().dict();
  if (entries == nullptr) throw Error("{}: not a dict of maps, but {}", path.string(), document.root().describe());
  Maps maps = document.root().find("keys") != nullptr ? from_arrays(path, document.root()) : from_dict(path, *entries);
  for (auto& [number, map] : maps) map = map.clone();  // the document goes
  return maps;
}

}  // namespace

Cams read_cam_file(const Path& path, int width, int height, int classes, int first) {
  Cams cams{width, height, {}, {}};
  const bool ours = lower_extension(path) == ".safetensors";
  for (const auto& [number, map] : read_maps(path)) {
    const int64_t label = ours ? number : number + first;
    if (label < 1 || label >= classes) {
      throw Error("{}: class {} (number {} in the file) is not among classes 1 to {}; --cam-first says how they count",
                  path.string(), label, number, classes - 1);
    }
    const torch::Tensor plain = map.to(torch::kFloat).contiguous();
    if (plain.dim() != 2 || plain.numel() == 0) throw Error("{}: the map of class {} is empty", path.string(), label);
    const float* data = plain.const_data_ptr<float>();
    std::vector<float> values(data, data + plain.numel());
    float most = 0;
    for (float& value : values) {
      value = value > 0 ? value : 0;  // NaN too
      most = std::max(most, value);
    }
    if (most > 1) {
      for (float& value : values) value /= most;
    }
    if (plain.size(1) != width || plain.size(0) != height) {
      values =
          image::resize_map(values, static_cast<int>(plain.size(1)), static_cast<int>(plain.size(0)), width, height);
    }
    cams.classes.push_back(static_cast<int>(label));
    cams.maps.insert(cams.maps.end(), values.begin(), values.end());
  }
  return cams;
}

}  // namespace crisp::seed
