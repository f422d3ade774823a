#include "crisp/train/tag_match.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/image/decode.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/predictor.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/seldom_sizes.h"
#include "crisp/train/relabel.h"

namespace crisp::train {
namespace {

constexpr int kRounds = 20;
constexpr double kPrior = 2;  // photos added to both counts: a class with few tags moves little

// Photos in which each class is found.
std::vector<int64_t> found_with(const std::vector<SeenPhoto>& photos, const std::vector<double>& offsets) {
  const auto classes = static_cast<int64_t>(offsets.size());
  const torch::Tensor shift = torch::tensor(offsets, torch::kFloat).view({-1, 1, 1});
  torch::Tensor found = torch::zeros({classes}, torch::kLong);
  for (const SeenPhoto& photo : photos) {
    const torch::Tensor labels = (photo.scores.to(torch::kFloat) + shift).argmax(0).flatten();
    found += torch::bincount(labels, {}, classes) > 0;
  }
  return {found.const_data_ptr<int64_t>(), found.const_data_ptr<int64_t>() + classes};
}

double log_ratio(int64_t tagged, int64_t found) {
  return std::log((static_cast<double>(tagged) + kPrior) / (static_cast<double>(found) + kPrior));
}

std::vector<data::Sample> spread_over(const std::vector<data::Sample>& samples, size_t count) {
  if (count == 0 || count >= samples.size()) return samples;
  std::vector<data::Sample> some;
  for (size_t i = 0; i < count; ++i) some.push_back(samples[i * samples.size() / count]);
  return some;
}

}  // namespace

SeenPhoto seen(const torch::Tensor& probabilities, const std::vector<int>& tags) {
  const torch::Tensor few =
      torch::adaptive_avg_pool2d(probabilities.unsqueeze(0),
                                 {std::min(kSmall, probabilities.size(1)), std::min(kSmall, probabilities.size(2))})[0];
  return {few.clamp_min(1e-6).log().to(torch::kHalf).to(torch::kCPU), tags};
}

TagMatch match(const std::vector<SeenPhoto>& photos, int64_t classes) {
  const auto count = static_cast<size_t>(classes);
  TagMatch best{std::vector<double>(count), std::vector<int64_t>(count), {}, {}};
  for (const SeenPhoto& photo : photos) {
    for (const int tag : photo.tags) ++best.tagged[static_cast<size_t>(tag)];
  }
  best.found = best.matched = found_with(photos, best.offsets);
  double least = 0;
  std::vector<double> offsets = best.offsets;
  std::vector<int64_t> found = best.found;
  // Each class's count depends on the others' offsets too, so all move together, and the best of the way is kept.
  for (int round = 0; round <= kRounds; ++round) {
    double misfit = 0;
    for (size_t k = 1; k < count; ++k) {
      if (best.tagged[k] > 0) misfit += std::abs(log_ratio(best.tagged[k], found[k]));
    }
    if (round == 0 || misfit < least) {
      least = misfit;
      best.offsets = offsets;
      best.matched = found;
    }
    if (round == kRounds) break;
    for (size_t k = 1; k < count; ++k) {
      if (best.tagged[k] == 0) continue;
      offsets[k] = std::clamp(offsets[k] + 0.7 * log_ratio(best.tagged[k], found[k]), -kMostOffset, kMostOffset);
    }
    found = found_with(photos, offsets);
  }
  return best;
}

TagMatch match_tags(model::Segmenter network, const std::vector<data::Sample>& samples, size_t count,
                    torch::Device device, torch::ScalarType dtype, int workers, int64_t batch) {
  const std::vector<data::Sample> some = spread_over(samples, count);
  std::vector<SeenPhoto> photos;
  network->eval();
  Progress progress("match tags", static_cast<int64_t>(some.size()));
  infer::PhotoStages<TeacherView, SeenPhoto> stages;
  stages.read = [&](size_t index) { return image::read_image(some[index].image); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    const torch::InferenceMode inference;
    const tensor::Autocast mixed(device, dtype);
    std::vector<image::Image> images;
    for (const infer::Photo& photo : group) images.push_back(photo.image);
    const torch::Tensor pixels = infer::to_batch(images, device, torch::kFloat);
    const tensor::SeldomSizes seldom(pixels);
    return teacher_views(*network, pixels, /*passes=*/1, {}, {1}, /*flip=*/false, /*presence=*/true);
  };
  stages.finish = [&](const infer::Photo& photo, TeacherView& view) {
    const torch::InferenceMode inference;
    return seen(view.probabilities.to(torch::kCPU), some[photo.index].tags);
  };
  stages.done = [&](SeenPhoto photo) {
    photos.push_back(std::move(photo));
    progress.advance();
  };
  stages.unreadable = [&](size_t, const std::string& problem) {
    log_warning("matching tags: skipped {}", problem);
    progress.advance();
  };
  infer::stream_photos(some.size(), {.workers = workers, .batch = batch, .stop = {}}, stages);
  progress.finish();
  if (photos.empty()) throw Error("matching tags: none of {} photos can be read", some.size());
  const torch::InferenceMode inference;
  return match(photos, network->config.head.classes);
}

model::Segmenter shifted(const model::Segmenter& network, const std::vector<double>& offsets) {
  model::SegmenterConfig config = network->config;
  config.head.offsets.resize(offsets.size());
  for (size_t k = 0; k < offsets.size(); ++k) config.head.offsets[k] += offsets[k];
  model::Segmenter copy(config);
  const torch::Device device = network->parameters()[0].device();
  copy->to(device);
  tensor::load_into(*copy, tensor::state_of(*network), "the network");
  copy->eval();
  return copy;
}

}  // namespace crisp::train
