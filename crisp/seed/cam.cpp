#include "crisp/seed/cam.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/infer/predictor.h"

namespace crisp::seed {
namespace {

std::vector<float> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.to(torch::kCPU, torch::kFloat).contiguous();
  const float* data = plain.const_data_ptr<float>();
  return {data, data + plain.numel()};
}

// The side nearest to scale * size that is a multiple of `multiple`.
int64_t rounded_side(int64_t size, double scale, int multiple) {
  const double wanted = scale * static_cast<double>(size);
  return std::max<int64_t>(1, std::lround(wanted / multiple)) * multiple;
}

// Raw maps at `scale` brought to the photos' size, the tagged classes alone: [N] of [tags, H, W]. A photo with a side
// under 32 is padded for the network and its map cropped again.
void add_scale(model::CamClassifierImpl& classifier, const torch::Tensor& images, double scale,
               const CamOptions& options, const std::vector<torch::Tensor>& channels,
               std::vector<torch::Tensor>& sums) {
  const bool flip = options.flip;
  const int64_t height = images.size(2), width = images.size(3);
  const int64_t h = rounded_side(height, scale, options.multiple), w = rounded_side(width, scale, options.multiple);
  torch::Tensor input = images;
  if (h != height || w != width) input = torch::upsample_bilinear2d(images, {h, w}, /*align_corners=*/false);
  if (flip) input = torch::cat({input, input.flip(3)});
  const torch::Tensor padded = model::pad_to_smallest(input);
  const int64_t padded_h = padded.size(2), padded_w = padded.size(3);
  const torch::Tensor maps = torch::relu(classifier.maps(padded)).to(torch::kFloat);
  for (int64_t i = 0; i < images.size(0); ++i) {
    const auto& wanted = channels[static_cast<size_t>(i)];
    if (wanted.numel() == 0) continue;
    const auto full = [&](int64_t index) {
      const torch::Tensor chosen = maps[index].index_select(0, wanted).unsqueeze(0);
      if (padded_h == h && padded_w == w) return torch::upsample_bilinear2d(chosen, {height, width}, false)[0];
      const torch::Tensor whole = torch::upsample_bilinear2d(chosen, {padded_h, padded_w}, false);
      return torch::upsample_bilinear2d(whole.narrow(2, 0, h).narrow(3, 0, w), {height, width}, false)[0];
    };
    torch::Tensor map = full(i);
    if (flip) map = torch::maximum(map, full(images.size(0) + i).flip(2));
    torch::Tensor& sum = sums[static_cast<size_t>(i)];
    sum = sum.defined() ? sum + map : map;
  }
}

}  // namespace

void check(const CamOptions& options) {
  for (const double scale : options.scales) {
    if (!(scale >= 0.05 && scale <= 8)) throw UsageError("--scales {}: a scale lies between 0.05 and 8", scale);
  }
  if (options.multiple < 1 || options.multiple > 256) {
    throw UsageError("--multiple {}: it lies between 1 and 256", options.multiple);
  }
}

std::vector<double> scales_for(const CamOptions& options, int width, int height) {
  if (!options.scales.empty()) return options.scales;
  return std::max(width, height) < 400 ? std::vector<double>{1, 1.5, 2} : std::vector<double>{1, 0.5, 1.5};
}

CamMaker::CamMaker(model::CamClassifier classifier, torch::Device device, torch::ScalarType dtype, CamOptions options)
    : classifier_(std::move(classifier)), device_(device), dtype_(dtype), options_(std::move(options)) {
  check(options_);
  classifier_->to(device_, dtype_);
  classifier_->eval();
}

std::vector<Cams> CamMaker::run(const std::vector<image::Image>& photos, const std::vector<std::vector<int>>& tags) {
  if (photos.empty()) return {};
  const torch::InferenceMode inference;
  const torch::Tensor images = infer::to_batch(photos, device_, dtype_);
  std::vector<torch::Tensor> channels, sums(photos.size());
  for (const std::vector<int>& own : tags) {
    std::vector<int64_t> places;
    for (const int tag : own) places.push_back(tag - 1);
    channels.push_back(torch::tensor(places, torch::kLong).to(device_));
  }
  for (const double scale : scales_for(options_, photos[0].width, photos[0].height)) {
    add_scale(*classifier_, images, scale, options_, channels, sums);
  }
  std::vector<Cams> all;
  for (size_t i = 0; i < photos.size(); ++i) {
    Cams cams{photos[i].width, photos[i].height, tags[i], {}};
    if (sums[i].defined()) {
      const torch::Tensor low = sums[i].amin({1, 2}, true), high = sums[i].amax({1, 2}, true);
      cams.maps = to_vector((sums[i] - low) / (high - low + 1e-5));
    }
    all.push_back(std::move(cams));
  }
  return all;
}

AffinityMaker::AffinityMaker(model::AffinityNet network, torch::Device device, torch::ScalarType dtype)
    : network_(std::move(network)), device_(device), dtype_(dtype) {
  network_->to(device_, dtype_);
  network_->eval();
}

std::vector<AffinityFeatures> AffinityMaker::run(const std::vector<image::Image>& photos) {
  const torch::InferenceMode inference;
  constexpr int kMultiple = 32;  // as for the maps: few sizes
  torch::Tensor images = infer::to_batch(photos, device_, dtype_);
  const int64_t h = rounded_side(images.size(2), 1, kMultiple), w = rounded_side(images.size(3), 1, kMultiple);
  if (h != images.size(2) || w != images.size(3)) images = torch::upsample_bilinear2d(images, {h, w}, false);
  const torch::Tensor maps = network_->forward(images).to(torch::kFloat);
  std::vector<AffinityFeatures> all;
  for (int64_t i = 0; i < maps.size(0); ++i) {
    all.push_back({static_cast<int>(maps.size(1)), static_cast<int>(maps.size(3)), static_cast<int>(maps.size(2)),
                   to_vector(maps[i])});
  }
  return all;
}

}  // namespace crisp::seed
