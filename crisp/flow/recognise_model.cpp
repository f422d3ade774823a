#include "crisp/flow/recognise_model.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/resources.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/image/decode.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/predictor.h"
#include "crisp/infer/size_order.h"
#include "crisp/metric/average_precision.h"
#include "crisp/model/load.h"
#include "crisp/tensor/safetensors.h"
#include "crisp/tensor/seldom_sizes.h"
#include "crisp/train/tag_regression.h"

namespace crisp::flow {
namespace {

constexpr const char* kShipped = "efficientnet_lite2.safetensors";
constexpr int64_t kAside = 10;  // one of so many photos is kept aside, to measure

struct Seen {
  torch::Tensor features, tags;  // [P, D] and, zeros and ones, [P, K-1]
};

// The model with a recogniser whose last layer is still to be learned.
model::Segmenter with_recogniser(const Path& model_file, const Path& weights) {
  const model::Segmenter plain = model::load_segmenter(model_file);
  const tensor::NamedTensors file = tensor::read_safetensors(weights);
  const auto name = file.metadata.find("recogniser");
  if (name == file.metadata.end()) {
    throw Error("{}: not a recogniser; scripts/recogniser/convert.py makes one", weights.string());
  }
  model::SegmenterConfig config = plain->config;
  config.head.recogniser = name->second;
  model::Segmenter network(config);
  tensor::load_into(*network->recogniser->network, file.tensors, weights.string());
  tensor::StateDict state = tensor::state_of(*plain);
  std::erase_if(state, [](const auto& item) { return item.first.starts_with("recogniser."); });
  tensor::load_into(*network, state, model_file.string(), {.may_be_missing = {"recogniser."}, .may_be_extra = {}});
  network->eval();
  return network;
}

// What the recogniser's network sees of each photo; those that cannot be read are left out.
Seen look_at(const std::vector<data::Sample>& photos, model::Segmenter& network, torch::Device device, int workers,
             int64_t batch) {
  std::vector<torch::Tensor> features, tags;
  Progress progress("recognise", static_cast<int64_t>(photos.size()));
  infer::PhotoStages<torch::Tensor, std::pair<torch::Tensor, torch::Tensor>> stages;
  stages.read = [&](size_t index) { return image::read_image(photos[index].image); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    const torch::InferenceMode inference;
    std::vector<image::Image> images;
    for (const infer::Photo& photo : group) images.push_back(photo.image);
    const torch::Tensor pixels = infer::to_batch(images, device, torch::kFloat);
    const tensor::SeldomSizes seldom(pixels);
    // On the way that photos take at inference, enlarged and all.
    const torch::Tensor enlarged = infer::rescaled(pixels, infer::working_scale(network->config.head, pixels));
    return network->recogniser->pooled(network->before_zoom(enlarged)).to(torch::kCPU).unbind(0);
  };
  stages.finish = [&](const infer::Photo& photo, torch::Tensor& pooled) {
    torch::Tensor wanted = torch::zeros({network->config.head.classes - 1});
    for (const int tag : photos[photo.index].tags) wanted[tag - 1] = 1;
    return std::pair{pooled, wanted};
  };
  stages.done = [&](std::pair<torch::Tensor, torch::Tensor> one) {
    features.push_back(one.first);
    tags.push_back(one.second);
    progress.advance();
  };
  stages.unreadable = [&](size_t, const std::string& problem) {
    log_warning("recognise: skipped {}", problem);
    progress.advance();
  };
  infer::stream_photos(photos.size(), {.workers = workers, .batch = batch, .stop = {}}, stages);
  progress.finish();
  if (features.empty()) throw Error("none of {} photos can be read", photos.size());
  return {torch::stack(features).clone(), torch::stack(tags)};
}

// Learns from nine photos of ten and measures on the tenth.
void measure(const Seen& seen, RecogniseReport& report) {
  const torch::Tensor number = torch::arange(seen.tags.size(0));
  const torch::Tensor aside = (number % kAside == 0).nonzero().squeeze(1);
  const torch::Tensor rest = (number % kAside != 0).nonzero().squeeze(1);
  report.kept_aside = static_cast<size_t>(aside.size(0));
  if (rest.size(0) == 0) return;
  const train::TagLayer layer = train::learn_tags(seen.features.index_select(0, rest), seen.tags.index_select(0, rest));
  const torch::Tensor said = torch::linear(seen.features.index_select(0, aside), layer.weight, layer.bias);
  const torch::Tensor truth = seen.tags.index_select(0, aside);
  double sum = 0;
  int there = 0;
  for (int64_t k = 0; k < truth.size(1); ++k) {
    std::vector<float> scores;
    std::vector<uint8_t> positive;
    for (int64_t i = 0; i < truth.size(0); ++i) {
      scores.push_back(said[i][k].item<float>());
      positive.push_back(truth[i][k].item<float>() > 0);
    }
    const double precision = metric::average_precision(scores, positive);
    report.precision[static_cast<size_t>(k) + 1] = precision;
    if (!std::isnan(precision)) {
      sum += precision;
      ++there;
    }
  }
  report.mean_precision = there > 0 ? sum / there : std::nan("");
}

}  // namespace

RecogniseReport recognise_model(const RecogniseOptions& options, torch::Device device) {
  if (options.batch < 1) throw UsageError("--batch {}: at least one", options.batch);
  const Path weights = options.recogniser.empty() ? shipped_weights(kShipped) : options.recogniser;
  if (weights.empty()) throw UsageError("--recogniser is needed: {} is not beside the program", kShipped);
  const data::Dataset dataset =
      open_tagged(options.data, options.split, options.tags_from, options.tags, options.seed, options.workers);
  model::Segmenter network = with_recogniser(options.model, weights);
  check_classes(network->config.classes, dataset.classes);
  std::vector<data::Sample> photos;
  for (data::Sample& sample : dataset.samples(options.split)) {
    if (sample.has_tags) photos.push_back(std::move(sample));
  }
  network->to(device);
  const Seen seen = look_at(infer::in_size_order(photos), network, device, options.workers, options.batch);

  const size_t classes = dataset.classes.size();
  RecogniseReport report{.classes = dataset.classes,
                         .tagged = std::vector<size_t>(classes),
                         .precision = std::vector<double>(classes, std::nan("")),
                         .photos = static_cast<size_t>(seen.tags.size(0))};
  for (size_t k = 1; k < classes; ++k) {
    report.tagged[k] = static_cast<size_t>(seen.tags.select(1, static_cast<int64_t>(k) - 1).sum().item<double>());
  }
  measure(seen, report);
  const train::TagLayer layer = train::learn_tags(seen.features, seen.tags);
  network->to(torch::kCPU);
  tensor::load_into(*network->recogniser->scores, {{"weight", layer.weight}, {"bias", layer.bias}}, "the tags");
  model::save_changed(options.out, network, options.model, {{"recogniser", "learned from tags"}});
  return report;
}

}  // namespace crisp::flow
