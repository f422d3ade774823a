#include "crisp/infer/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crisp/base/error.h"
#include "crisp/image/resize.h"
#include "crisp/ops/uncertainty.h"
#include "crisp/ops/upsample_labels.h"
#include "crisp/tensor/seldom_sizes.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::infer {
namespace {

constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kDeviation[] = {0.229f, 0.224f, 0.225f};

torch::Tensor resized(const torch::Tensor& maps, int64_t height, int64_t width) {
  if (maps.size(2) == height && maps.size(3) == width) return maps;
  return torch::upsample_bilinear2d(maps, {height, width}, /*align_corners=*/false);
}

torch::Tensor on_cpu(const torch::Tensor& map) { return map.to(torch::kCPU, torch::kFloat); }

// The multiple of the patch nearest to so many times the ViT's own square.
int64_t vit_side(const model::VitView& view, double scale) {
  return std::max<int64_t>(1, std::lround(scale * static_cast<double>(view.side / view.patch))) * view.patch;
}

image::Mask to_mask(const torch::Tensor& labels) {
  image::Mask mask(static_cast<int>(labels.size(1)), static_cast<int>(labels.size(0)));
  std::memcpy(mask.labels.data(), labels.contiguous().const_data_ptr<uint8_t>(), mask.labels.size());
  return mask;
}

// On the device the maps are on; only the result travels.
void fill_uncertainty(Result& result, const torch::Tensor& aleatoric, const torch::Tensor& log_probabilities) {
  const torch::Tensor entropy = ops::relative_entropy(log_probabilities);
  result.uncertainty = on_cpu(ops::mixed_uncertainty({aleatoric, entropy}));
  result.mean_uncertainty = result.uncertainty.mean().item<double>();
  result.mean_entropy = entropy.mean().item<double>();
}

}  // namespace

void check(const InferOptions& options) {
  check(options.tiling);
  if (options.scales.empty()) throw UsageError("--scales: at least one scale is needed");
  for (const double scale : options.scales) {
    if (!(scale >= 0.05 && scale <= 8)) throw UsageError("--scales {}: a scale lies between 0.05 and 8", scale);
  }
}

torch::Tensor normalised(const torch::Tensor& pixels) {
  const auto f32 = torch::TensorOptions(pixels.device()).dtype(torch::kFloat);
  const torch::Tensor deviation = torch::tensor(at::ArrayRef<float>(kDeviation)).to(f32) * 255;
  const torch::Tensor mean = torch::tensor(at::ArrayRef<float>(kMean)).to(f32) * 255;
  return pixels.to(torch::kFloat).sub_(mean).div_(deviation).permute({0, 3, 1, 2});
}

torch::Tensor to_batch(const std::vector<image::Image>& images, torch::Device device, torch::ScalarType dtype) {
  std::vector<torch::Tensor> pixels;
  for (const image::Image& image : images) {
    pixels.push_back(
        torch::from_blob(const_cast<uint8_t*>(image.rgb.data()), {image.height, image.width, 3}, torch::kUInt8));
  }
  return normalised(torch::stack(pixels).to(device)).to(dtype);
}

torch::Tensor rescaled(const torch::Tensor& images, double scale) {
  const auto side = [&](int64_t size) { return std::max<int64_t>(1, std::lround(scale * static_cast<double>(size))); };
  const int64_t height = side(images.size(2)), width = side(images.size(3));
  if (height == images.size(2) && width == images.size(3)) return images;
  return torch::_upsample_bilinear2d_aa(images.to(torch::kFloat), {height, width}, /*align_corners=*/false)
      .to(images.scalar_type());
}

Predictor::Predictor(model::Segmenter network, torch::Device device, torch::ScalarType dtype, InferOptions options)
    : network_(std::move(network)), device_(device), dtype_(dtype), options_(std::move(options)) {
  check(options_);
  network_->to(device_);
  // Not to(dtype): that would turn the batch norms' counters into floats, behind the back of whoever shares them.
  for (const auto& [name, tensor] : tensor::state_of(*network_)) {
    if (tensor.is_floating_point()) torch::Tensor(tensor).set_data(tensor.detach().to(dtype_));
  }
  network_->eval();
}

torch::Tensor as_seen(const model::EncoderConfig& encoder, const std::vector<image::Image>& photos,
                      torch::Device device, torch::ScalarType dtype) {
  if (!encoder.vit) return to_batch(photos, device, dtype);
  const int side = static_cast<int>(encoder.vit->side);
  std::vector<image::Image> squares;
  for (const image::Image& photo : photos) squares.push_back(image::resize(photo, side, side));
  return to_batch(squares, device, dtype);
}

std::vector<Result> Predictor::run(const std::vector<image::Image>& images, const torch::Tensor& tokens) {
  if (images.empty()) return {};
  const torch::InferenceMode inference;
  const bool single = options_.scales.size() == 1 && !options_.flip;
  return single ? single_pass(images, tokens) : multi_scale(images, tokens);
}

double Predictor::fit(const torch::Tensor& images) const {
  const model::HeadConfig& head = config().head;
  if (head.side == 0 || options_.full_size || options_.tiling.tile > 0) return head.zoom;
  const auto longer = static_cast<double>(std::max(images.size(2), images.size(3)));
  return head.zoom * std::min(1.0, kLargest * static_cast<double>(head.side) / longer);
}

torch::Tensor Predictor::input(const std::vector<image::Image>& images, double scale) const {
  const model::EncoderConfig& encoder = config().encoder;
  if (!encoder.vit || options_.tiling.tile > 0) {
    const torch::Tensor batch = to_batch(images, device_, dtype_);
    return rescaled(batch, encoder.vit ? scale : scale * fit(batch));
  }
  model::EncoderConfig at_scale = encoder;
  at_scale.vit->side = vit_side(*encoder.vit, scale);
  return as_seen(at_scale, images, device_, dtype_);
}

// The tile as the ViT's square, and what it says brought back to the grid of the tile.
model::Prediction Predictor::forward_tile(const torch::Tensor& tile, const model::ForwardOptions& how) {
  const auto& vit = config().encoder.vit;
  if (!vit) return network_->forward(tile, how);
  const torch::Tensor square =
      at::_upsample_bilinear2d_aa(tile.contiguous(), {vit->side, vit->side}, /*align_corners=*/false);
  const model::Prediction said = network_->forward(square, how);
  const auto back = [&](const torch::Tensor& map) {
    return map.defined() ? resized(map.to(torch::kFloat), (tile.size(2) + 3) / 4, (tile.size(3) + 3) / 4) : map;
  };
  model::Prediction tiled;
  tiled.refined = back(said.refined);
  tiled.uncertainty = back(said.uncertainty);
  tiled.boundary = back(said.boundary);
  return tiled;
}

model::Prediction Predictor::forward(const torch::Tensor& images, const torch::Tensor& tokens) {
  const model::ForwardOptions how{.boundary = options_.boundary, .tokens = tokens};
  const tensor::SeldomSizes seldom(images);
  if (options_.tiling.tile == 0) return network_->forward(images, how);
  std::vector<model::Prediction> parts;
  for (int64_t i = 0; i < images.size(0); ++i) {
    parts.push_back(
        run_tiled([&](const torch::Tensor& tile) { return forward_tile(tile, {.boundary = options_.boundary}); },
                  images.narrow(0, i, 1), options_.tiling));
  }
  const auto joined = [&](torch::Tensor model::Prediction::* field) {
    std::vector<torch::Tensor> maps;
    for (const auto& part : parts) {
      if ((part.*field).defined()) maps.push_back(part.*field);
    }
    return maps.empty() ? torch::Tensor() : torch::cat(maps);
  };
  model::Prediction all;
  all.refined = joined(&model::Prediction::refined);
  all.uncertainty = joined(&model::Prediction::uncertainty);
  all.boundary = joined(&model::Prediction::boundary);
  return all;
}

std::vector<Result> Predictor::single_pass(const std::vector<image::Image>& images, const torch::Tensor& tokens) {
  const double scale = options_.scales[0];
  const model::Prediction prediction = forward(input(images, scale), scale == 1 ? tokens : torch::Tensor());
  std::vector<Result> results;
  for (int64_t i = 0; i < static_cast<int64_t>(images.size()); ++i) {
    Result result;
    const torch::Tensor logits = prediction.refined[i].to(torch::kFloat);
    result.labels = to_mask(ops::upsample_labels(logits, images[0].height, images[0].width));
    result.logits = on_cpu(logits).contiguous();
    const bool has_variance = config().head.variance && prediction.uncertainty.defined();
    const torch::Tensor aleatoric = has_variance ? prediction.uncertainty[i][0].to(torch::kFloat) : torch::Tensor();
    fill_uncertainty(result, aleatoric, torch::log_softmax(logits, 0));
    if (prediction.boundary.defined()) result.boundary = torch::sigmoid(on_cpu(prediction.boundary[i][0]));
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<Result> Predictor::multi_scale(const std::vector<image::Image>& images, const torch::Tensor& tokens) {
  const int64_t height = images[0].height, width = images[0].width;
  torch::Tensor probabilities, aleatoric, boundary;
  int64_t passes = 0;
  const auto add = [&](torch::Tensor& sum, const torch::Tensor& map, bool mirrored) {
    torch::Tensor full = resized(map.to(torch::kFloat), height, width);
    if (&sum == &probabilities) full = torch::softmax(full, 1);
    if (&sum == &boundary) full = torch::sigmoid(full);
    if (mirrored) full = full.flip(3);
    sum = sum.defined() ? sum.add_(full) : full.clone();
  };
  for (const double scale : options_.scales) {
    const torch::Tensor scaled = input(images, scale);
    for (const bool mirrored : {false, true}) {
      if (mirrored && !options_.flip) continue;
      const model::Prediction prediction =
          forward(mirrored ? scaled.flip(3) : scaled, mirrored || scale != 1 ? torch::Tensor() : tokens);
      add(probabilities, prediction.refined, mirrored);
      if (config().head.variance && prediction.uncertainty.defined()) add(aleatoric, prediction.uncertainty, mirrored);
      if (prediction.boundary.defined()) add(boundary, prediction.boundary, mirrored);
      ++passes;
    }
  }
  std::vector<Result> results;
  for (int64_t i = 0; i < static_cast<int64_t>(images.size()); ++i) {
    Result result;
    const torch::Tensor mean = probabilities[i] / passes;
    result.probabilities = on_cpu(mean).contiguous();
    result.labels = to_mask(mean.argmax(0).to(torch::kUInt8).cpu());
    const torch::Tensor u = aleatoric.defined() ? aleatoric[i][0] / passes : torch::Tensor();
    fill_uncertainty(result, u, mean.clamp_min(1e-12).log());
    if (boundary.defined()) result.boundary = on_cpu(boundary[i][0] / passes);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace crisp::infer
