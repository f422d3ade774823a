#include <mutex>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/flow/evaluate.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/seeds.h"
#include "crisp/image/decode.h"
#include "crisp/image/resize.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/metric/confusion.h"

namespace crisp::flow {
namespace {

struct Maps {
  seed::Cams cams;
  seed::AffinityFeatures features;
};

std::vector<seed::Background> candidates(bool power) {
  std::vector<seed::Background> all;
  if (power) {
    for (const double value : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0}) all.push_back({true, value});
  } else {
    for (int i = 1; i <= 16; ++i) all.push_back({false, i / 20.0});
  }
  return all;
}

}  // namespace

Sweep sweep_background(const SeedsOptions& options, int64_t most_images, torch::Device device) {
  const data::Dataset dataset = open_tagged(options.data, options.split, options.tags_from, options.tags,
                                            options.random_seed, options.seed.workers);
  std::vector<data::Sample> masked;
  for (const data::Sample& sample : dataset.samples(options.split)) {
    if (sample.has_mask() && sample.has_tags) masked.push_back(sample);
  }
  if (masked.empty()) throw Error("--sweep: no tagged photo of split {} has a mask to compare with", options.split);
  if (static_cast<int64_t>(masked.size()) > most_images) {  // a seeded choice, so that it can be repeated
    const std::vector<size_t> order = data::shuffled(masked.size(), Rng(options.random_seed));
    std::vector<data::Sample> chosen;
    for (int64_t i = 0; i < most_images; ++i) chosen.push_back(masked[order[static_cast<size_t>(i)]]);
    masked = std::move(chosen);
  }
  seed::CamMaker cams = open_cams(options, "", device);
  check_classes(cams.classes(), dataset.classes);
  std::optional<seed::AffinityMaker> affinity;
  if (options.seed.refine.has(seed::Refinement::kAffinity)) {
    if (options.affinity.empty())
      throw UsageError("--sweep with affinity needs --affinity: a trained affinity network");
    affinity.emplace(model::load_affinity_net(options.affinity), device, options.dtype);
  }
  const std::vector<seed::Background> tried = candidates(options.background && options.background->power);
  const metric::Options metric = with_classes({}, dataset.classes);
  std::vector<metric::Confusion> totals(tried.size(), metric::Confusion(metric.classes));
  std::mutex mutex;
  Progress progress("sweep", static_cast<int64_t>(masked.size()));
  infer::PhotoStages<Maps, int> stages;
  stages.read = [&](size_t index) {
    return seed::working_size(image::read_image(masked[index].image), options.seed.max_side);
  };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    const std::vector<image::Image> images = {group[0].image};
    const data::Sample& sample = masked[group[0].index];
    Maps maps{std::move(cams.run(images, {sample.tags}, {sample.image})[0]), {}};
    if (affinity) maps.features = std::move(affinity->run(images)[0]);
    return std::vector<Maps>{std::move(maps)};
  };
  stages.finish = [&](const infer::Photo& photo, Maps& maps) {
    const data::Sample& sample = masked[photo.index];
    const image::Mask truth = dataset.read_mask(sample);
    for (size_t i = 0; i < tried.size(); ++i) {
      seed::SeedOptions how = options.seed;
      how.background = tried[i];
      image::Mask labels = seed::make_seed(photo.image, maps.cams, maps.features, how).labels;
      labels = image::resize_nearest(labels, truth.width, truth.height);
      const metric::Confusion one = metric::count_confusion(sample.id, truth, labels, metric);
      const std::lock_guard lock(mutex);
      totals[i].add(one);
    }
    return 0;
  };
  stages.done = [&](int) { progress.advance(); };
  stages.unreadable = [&](size_t, const std::string& problem) {
    log_warning("skipped {}", problem);
    progress.advance();
  };
  infer::stream_photos(masked.size(), {.workers = options.seed.workers, .batch = 1}, stages);
  progress.finish();
  Sweep sweep{{}, static_cast<int64_t>(masked.size())};
  for (size_t i = 0; i < tried.size(); ++i) {
    int64_t all = 0, background = totals[i].predicted_pixels(0);
    for (int k = 0; k < metric.classes; ++k) all += totals[i].predicted_pixels(k);
    const double share = 100.0 * static_cast<double>(all - background) / static_cast<double>(std::max<int64_t>(1, all));
    sweep.points.push_back({tried[i], totals[i].mean_iou(), share});
  }
  return sweep;
}

}  // namespace crisp::flow
