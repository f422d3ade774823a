#include "crisp/train/affinity_task.h"

#include "crisp/image/decode.h"
#include "crisp/image/resize.h"
#include "crisp/ops/affinity_walk.h"
#include "crisp/train/batch.h"

namespace crisp::train {
namespace {

constexpr int kStride = 8;

data::Loader::Make example_maker(const std::vector<data::Sample>& samples, const data::SeedFolder& labels,
                                 const data::AugmentOptions& options) {
  return [&samples, &labels, options](size_t index, Rng& rng) {
    data::Example example;
    example.id = samples[index].id;
    example.image = image::read_image(samples[index].image);
    example.labels = labels.read(example.id).labels;
    return data::augment(std::move(example), options, rng);
  };
}

// Sum and count of a kind of pairs.
struct Mean {
  torch::Tensor sum, count;
  void add(const torch::Tensor& value, const torch::Tensor& mask) {
    const torch::Tensor part = (value * mask).sum(), number = mask.sum();
    sum = sum.defined() ? sum + part : part;
    count = count.defined() ? count + number : number;
  }
  torch::Tensor value() const { return sum / count.clamp_min(1); }
};

}  // namespace

AffinityTask::AffinityTask(model::AffinityNet network, std::vector<data::Sample> samples, data::SeedFolder labels,
                           const AffinityOptions& options, torch::Device device)
    : network_(std::move(network)),
      samples_(std::move(samples)),
      labels_(std::move(labels)),
      options_(options),
      device_(device),
      loader_(samples_.size(), example_maker(samples_, labels_, options.augment),
              {.batch = options.batch, .workers = options.workers, .seed = options.seed, .shuffle = true}) {
  data::check(options_.augment);
  if (!options_.train_encoder) freeze(*network_->encoder);
  network_->to(device_);
}

std::vector<ParameterGroup> AffinityTask::groups() {
  return {group_of("encoder", *network_->encoder, "encoder.", options_.encoder_rate, options_.weight_decay),
          group_of("head", *network_->head, "head.", options_.head_rate, options_.weight_decay)};
}

Losses affinity_loss(const torch::Tensor& features, const torch::Tensor& labels, int radius) {
  constexpr double kTiny = 1e-5;
  const int64_t height = features.size(2), width = features.size(3);
  Mean background, object, different;
  for (const ops::PairOffset offset : ops::pair_offsets(radius)) {
    const int64_t rows = height - offset.dy, columns = width - std::abs(offset.dx);
    if (rows <= 0 || columns <= 0) continue;
    const int64_t left = std::max(0, -offset.dx), right = std::max(0, offset.dx);
    const auto first = [&](const torch::Tensor& map, int64_t dim) {
      return map.narrow(dim, 0, rows).narrow(dim + 1, left, columns);
    };
    const auto second = [&](const torch::Tensor& map, int64_t dim) {
      return map.narrow(dim, offset.dy, rows).narrow(dim + 1, right, columns);
    };
    const torch::Tensor affinity = torch::exp(-(first(features, 2) - second(features, 2)).abs().mean(1));
    const torch::Tensor a = first(labels, 1), b = second(labels, 1);
    const torch::Tensor known = (a != 255) & (b != 255), same = known & (a == b);
    const torch::Tensor alike = -torch::log(affinity + kTiny);
    background.add(alike, (same & (a == 0)).to(torch::kFloat));
    object.add(alike, (same & (a != 0)).to(torch::kFloat));
    different.add(-torch::log(1 + kTiny - affinity), (known & (a != b)).to(torch::kFloat));
  }
  const torch::Tensor bg = background.value(), fg = object.value(), other = different.value();
  return {bg / 4 + fg / 4 + other / 2, {{"background", bg}, {"object", fg}, {"different", other}}};
}

Losses AffinityTask::losses(const std::vector<data::Example>& batch, const Moment&) {
  std::vector<torch::Tensor> labels;
  for (const data::Example& example : batch) {
    const int rows = (example.labels.height + kStride - 1) / kStride,
              columns = (example.labels.width + kStride - 1) / kStride;
    const image::Mask small = image::resize_nearest(example.labels, columns, rows);
    labels.push_back(
        torch::from_blob(const_cast<uint8_t*>(small.labels.data()), {rows, columns}, torch::kUInt8).clone());
  }
  if (!options_.train_encoder) network_->encoder->eval();
  const torch::Tensor features = network_->forward(images_of(batch, device_)).to(torch::kFloat);
  return affinity_loss(features, torch::stack(labels).to(device_));
}

}  // namespace crisp::train
