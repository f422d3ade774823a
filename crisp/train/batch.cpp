#include "crisp/train/batch.h"

#include <cstring>

#include "crisp/feature/store.h"
#include "crisp/infer/predictor.h"

namespace crisp::train {
namespace {

// Host memory that the GPU can fetch by itself, while the host goes on.
torch::TensorOptions host_memory(torch::Device device, torch::ScalarType type) {
  return torch::TensorOptions().dtype(type).pinned_memory(device.is_cuda());
}

}  // namespace

torch::Tensor images_of(const std::vector<data::Example>& batch, torch::Device device) {
  const int64_t height = batch[0].image.height, width = batch[0].image.width;
  const torch::Tensor pixels =
      torch::empty({static_cast<int64_t>(batch.size()), height, width, 3}, host_memory(device, torch::kUInt8));
  uint8_t* to = pixels.data_ptr<uint8_t>();
  for (const data::Example& example : batch) {
    std::memcpy(to, example.image.rgb.data(), example.image.rgb.size());
    to += example.image.rgb.size();
  }
  return infer::normalised(pixels.to(device, /*non_blocking=*/true));
}

torch::Tensor maps_of(const std::vector<data::Example>& batch, image::Mask data::Example::* map, torch::Device device) {
  const image::Mask& first = batch[0].*map;
  const torch::Tensor all =
      torch::empty({static_cast<int64_t>(batch.size()), first.height, first.width}, host_memory(device, torch::kUInt8));
  uint8_t* to = all.data_ptr<uint8_t>();
  for (const data::Example& example : batch) {
    std::memcpy(to, (example.*map).labels.data(), first.labels.size());
    to += first.labels.size();
  }
  return all.to(device, /*non_blocking=*/true);
}

torch::Tensor distances_of(const std::vector<data::Example>& batch, torch::Device device) {
  const image::Mask& first = batch[0].labels;
  const torch::Tensor all =
      torch::empty({static_cast<int64_t>(batch.size()), first.height, first.width}, host_memory(device, torch::kFloat));
  float* to = all.data_ptr<float>();
  for (const data::Example& example : batch) {
    std::memcpy(to, example.distance.data(), example.distance.size() * sizeof(float));
    to += example.distance.size();
  }
  return all.to(device, /*non_blocking=*/true);
}

torch::Tensor tokens_of(const std::vector<data::Example>& batch, torch::Device device) {
  if (batch[0].tokens.values.empty()) return {};
  std::vector<const data::Features*> all;
  for (const data::Example& example : batch) all.push_back(&example.tokens);
  torch::Tensor tokens = feature::stacked(all);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!batch[i].mirrored) continue;
    const torch::Tensor one = tokens[static_cast<int64_t>(i)];
    one.copy_(one.flip(2).clone());
  }
  return tokens.to(device);
}

torch::Tensor tag_matrix(const std::vector<data::Example>& batch, size_t classes) {
  torch::Tensor tags = torch::zeros({static_cast<int64_t>(batch.size()), static_cast<int64_t>(classes) - 1});
  auto cell = tags.accessor<float, 2>();
  for (size_t i = 0; i < batch.size(); ++i) {
    for (const int tag : batch[i].tags) cell[static_cast<int64_t>(i)][tag - 1] = 1;
  }
  return tags;
}

}  // namespace crisp::train
