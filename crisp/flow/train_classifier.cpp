#include "crisp/flow/train_classifier.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/flow/run_folder.h"
#include "crisp/flow/seen_photos.h"
#include "crisp/flow/training_report.h"
#include "crisp/flow/training_setup.h"
#include "crisp/image/decode.h"
#include "crisp/model/load.h"
#include "crisp/model/vit_config.h"
#include "crisp/seed/tag_file.h"

namespace crisp::flow {
namespace {

std::vector<data::Sample> tagged_samples(const data::Dataset& dataset, const std::string& split) {
  std::vector<data::Sample> tagged;
  size_t untagged = 0;
  for (data::Sample& sample : dataset.samples(split)) {
    if (sample.has_tags) {
      tagged.push_back(std::move(sample));
    } else {
      ++untagged;
    }
  }
  if (untagged > 0) log_warning("{} photo(s) of split {} have no tags and are left out", untagged, split);
  return tagged;
}

// A class nobody tags cannot be learned, and one that every photo has cannot be told from the rest.
void warn_about_classes(const std::vector<data::Sample>& samples, const ClassNames& classes) {
  std::vector<size_t> counts(classes.size());
  for (const data::Sample& sample : samples) {
    for (const int tag : sample.tags) ++counts[static_cast<size_t>(tag)];
  }
  std::vector<std::string> never, always;
  for (size_t k = 1; k < classes.size(); ++k) {
    if (counts[k] == 0) never.push_back(classes[k]);
    if (counts[k] > samples.size() * 19 / 20 && samples.size() > 1) always.push_back(classes[k]);
  }
  if (never.size() + 1 == classes.size())
    throw Error("not one photo is tagged with a class: there is nothing to learn");
  if (!never.empty()) {
    log_warning("never tagged, so never learned: {}", join_some(never));
  }
  if (!always.empty()) {
    log_warning("nearly every photo is tagged with {}: its activation maps will say little; add photos without it",
                join_some(always));
  }
}

std::vector<data::Sample> validation_samples(const data::Dataset& dataset, const ClassifierOptions& options) {
  const std::string split = held_out_split(dataset, options.val, options.split);
  if (split.empty()) return {};
  std::vector<data::Sample> samples = tagged_samples(dataset, split);
  if (samples.empty() && options.val != "auto") throw Error("--val {}: no photo of this split has tags", split);
  return samples;
}

}  // namespace

data::Dataset open_tagged(const Path& data, const std::string& split, const std::string& tags_from,
                          const std::string& tags_file, uint64_t seed, int threads) {
  data::Dataset dataset = data::open_dataset(
      data, {.tags_from = data::parse_tag_source(tags_from), .only_split = split, .seed = seed, .threads = threads});
  if (!tags_file.empty()) {
    const size_t tagged = dataset.set_tags(seed::read_tag_file(tags_file));
    log_info("{}: tags for {} of {} photos", tags_file, tagged, dataset.all.size());
  }
  for (const std::string& warning : dataset.warnings()) log_warning("{}", warning);
  data::require_tags(dataset, split);
  return dataset;
}

int typical_side(const std::vector<data::Sample>& samples) {
  std::vector<int> sides;
  const size_t step = std::max<size_t>(1, samples.size() / 64);
  for (size_t i = 0; i < samples.size(); i += step) {
    try {
      const image::ImageSize size = image::read_size(samples[i].image);
      sides.push_back(std::max(size.width, size.height));
    } catch (const Error&) {  // the loader will name it
    }
  }
  if (sides.empty()) return 320;
  std::nth_element(sides.begin(), sides.begin() + static_cast<ptrdiff_t>(sides.size() / 2), sides.end());
  return sides[sides.size() / 2];
}

int crop_for(int typical_side) { return typical_side > 400 ? 448 : std::clamp((typical_side + 31) / 32 * 32, 64, 320); }

int default_crop(const std::vector<data::Sample>& samples) { return crop_for(typical_side(samples)); }

void apply_arch(const std::string& arch, ClassifierOptions& o) {
  if (!model::is_vit(arch)) return;
  o.pooling = "both";
  o.task.batch = 32;
  o.task.head_rate = 1e-2;
  o.task.mosaic = 0;
  o.trainer.epochs = 20;
}

bool train_classifier(const ClassifierOptions& options, torch::Device device, const std::function<bool()>& stop) {
  train::check(options.trainer);
  const data::Dataset dataset = open_tagged(options.data, options.split, options.tags_from, options.tags,
                                            options.trainer.seed, options.task.workers);
  std::vector<data::Sample> samples = tagged_samples(dataset, options.split);
  warn_about_classes(samples, dataset.classes);
  std::vector<data::Sample> val = validation_samples(dataset, options);

  train::ClassifyOptions task_options = options.task;
  if (task_options.augment.crop < 0) task_options.augment.crop = default_crop(samples);
  model::CamClassifierConfig config;
  config.encoder = model::classifier_encoder(options.arch, options.stride);
  config.encoder.drop_path = options.drop_path;
  config.pooling = model::parse_pooling(options.pooling);
  config.top_share = options.top_share;
  config.classes = dataset.classes;
  const Path weights = initial_weights(options.arch, options.init);
  torch::manual_seed(options.trainer.seed);
  model::CamClassifier network(config);
  model::draw_weights(*network);
  const std::shared_ptr<feature::Store> store =
      begin_on(*network->encoder, weights, options.features, options.out, device);
  if (!store && !weights.empty()) model::load_encoder(*network->encoder, weights);
  log_info("{} photos, {} classes, {}{}, starting from {}", samples.size(), dataset.classes.size() - 1, options.arch,
           store ? ", frozen" : fmt::format(", crop {}", task_options.augment.crop),
           weights.empty() ? "nothing" : weights.string());
  train::ClassifyTask task(network, samples, val, task_options, device, store);
  // Last, so that options and weights that make no sense leave no folder behind.
  RunFolder run(options.out,
                {.task = "classify",
                 .command = options.command,
                 .data = options.data.string(),
                 .split = options.split,
                 .classes = dataset.classes},
                options.config, options.resume);
  keep_photos_seen(run.path(), samples, weights);
  if (store) {
    keep_encoder(*store, run.path());
    if (!make_features(*store, {samples, val}, options.task.workers, stop)) return false;
    standardise(*network->encoder, *store, samples);
  }
  train::Trainer trainer(task, options.trainer, device, run.path());
  if (options.resume) trainer.resume();
  if (!trainer.run(stop)) return false;
  run.finish(trainer.seconds());
  write_training_report(run.path());
  return true;
}

}  // namespace crisp::flow
