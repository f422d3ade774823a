#include "crisp/train/class_match.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/image/decode.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/foundation.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/seldom_sizes.h"
#include "crisp/train/relabel.h"

namespace crisp::train {
namespace {

constexpr int kRounds = 20;
constexpr double kPrior = 2;  // photos that fit, added to both counts: a class with few tags moves little

// Photos in which each class is found, or the shares of them that it fills.
std::vector<double> found_with(const std::vector<SeenPhoto>& photos, const std::vector<double>& offsets,
                               const MatchTo& to) {
  const auto classes = static_cast<int64_t>(offsets.size());
  const torch::Tensor shift = torch::tensor(offsets, torch::kFloat).view({-1, 1, 1});
  torch::Tensor found = torch::zeros({classes}, torch::kDouble);
  for (const SeenPhoto& photo : photos) {
    const torch::Tensor scores = photo.scores.to(torch::kFloat) + shift;
    const torch::Tensor labels = scores.argmax(0).flatten(), cells = torch::bincount(labels, {}, classes);
    found += to.sizes.empty() ? (cells > 0).to(torch::kDouble) : cells.to(torch::kDouble) / labels.numel();
  }
  return {found.const_data_ptr<double>(), found.const_data_ptr<double>() + classes};
}

}  // namespace

std::vector<data::Sample> spread_over(const std::vector<data::Sample>& samples, size_t count) {
  if (count == 0 || count >= samples.size()) return samples;
  std::vector<data::Sample> some;
  for (size_t i = 0; i < count; ++i) some.push_back(samples[i * samples.size() / count]);
  return some;
}

SeenPhoto seen(const torch::Tensor& probabilities, const std::vector<int>& tags) {
  const torch::Tensor few =
      torch::adaptive_avg_pool2d(probabilities.unsqueeze(0),
                                 {std::min(kSmall, probabilities.size(1)), std::min(kSmall, probabilities.size(2))})[0];
  return {few.clamp_min(1e-6).log().to(torch::kHalf).to(torch::kCPU), tags};
}

ClassMatch match(const std::vector<SeenPhoto>& photos, int64_t classes, const MatchTo& to) {
  const auto count = static_cast<size_t>(classes);
  const bool by_size = !to.sizes.empty();
  if (by_size && to.sizes.size() != count) throw Error("{} sizes for {} classes", to.sizes.size(), count);
  ClassMatch best;
  best.offsets.resize(count);
  best.tagged.resize(count);
  for (const SeenPhoto& photo : photos) {
    for (const int tag : photo.tags) ++best.tagged[static_cast<size_t>(tag)];
  }
  std::vector<double> each(count, 1);  // what one photo counts
  if (by_size) each = to.sizes;
  for (size_t k = 0; k < count; ++k) best.wanted.push_back(each[k] * static_cast<double>(best.tagged[k]));
  const auto log_ratio = [&](size_t k, double found) {
    return std::log((best.wanted[k] + kPrior * each[k]) / (found + kPrior * each[k]));
  };
  best.found = best.matched = found_with(photos, best.offsets, to);
  double least = 0;
  std::vector<double> offsets = best.offsets, found = best.found;
  // Each class's count depends on the others' offsets too, so all move together, and the best of the way is kept.
  for (int round = 0; round <= kRounds; ++round) {
    double misfit = 0;
    for (size_t k = 1; k < count; ++k) {
      if (best.wanted[k] > 0) misfit += std::abs(log_ratio(k, found[k]));
    }
    if (round == 0 || misfit < least) {
      least = misfit;
      best.offsets = offsets;
      best.matched = found;
    }
    if (round == kRounds) break;
    const double most = most_offset(to);
    for (size_t k = 1; k < count; ++k) {
      if (best.wanted[k] > 0) offsets[k] = std::clamp(offsets[k] + 0.7 * log_ratio(k, found[k]), -most, most);
    }
    found = found_with(photos, offsets, to);
  }
  return best;
}

ClassMatch match_network(model::Segmenter network, const std::vector<data::Sample>& samples, size_t count,
                         const MatchTo& to, torch::Device device, torch::ScalarType dtype, int workers, int64_t batch,
                         feature::Store* store) {
  const std::vector<data::Sample> some = spread_over(samples, count);
  std::vector<SeenPhoto> photos;
  network->eval();
  Progress progress("match classes", static_cast<int64_t>(some.size()));
  infer::PhotoStages<TeacherView, SeenPhoto> stages;
  stages.read = [&](size_t index) { return image::read_image(some[index].image); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    const torch::InferenceMode inference;
    const tensor::Autocast mixed(device, dtype);
    std::vector<image::Image> images;
    std::vector<Path> files;
    for (const infer::Photo& photo : group) {
      images.push_back(photo.image);
      files.push_back(some[photo.index].image);
    }
    const feature::Input input = feature::input_of(network->config.encoder, images, files, store, device);
    const tensor::SeldomSizes seldom(input.pixels);
    return teacher_views(*network, input, /*passes=*/1, {}, {1}, /*flip=*/false);
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
    log_warning("matching classes: skipped {}", problem);
    progress.advance();
  };
  infer::stream_photos(some.size(), {.workers = workers, .batch = batch, .stop = {}}, stages);
  progress.finish();
  if (photos.empty()) throw Error("matching classes: none of {} photos can be read", some.size());
  const torch::InferenceMode inference;
  return match(photos, network->config.head.classes, to);
}

model::Segmenter shifted(const model::Segmenter& network, const std::vector<double>& offsets) {
  model::SegmenterConfig config = network->config;
  config.head.offsets.resize(offsets.size());
  for (size_t k = 0; k < offsets.size(); ++k) config.head.offsets[k] += offsets[k];
  model::Segmenter copy(config);
  model::share_foundation(*network->encoder, *copy->encoder);
  const torch::Device device = network->parameters()[0].device();
  copy->to(device);
  tensor::load_into(*copy, tensor::state_of(*network), "the network");
  copy->eval();
  return copy;
}

}  // namespace crisp::train
