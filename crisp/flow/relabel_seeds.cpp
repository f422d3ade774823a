#include "crisp/flow/relabel_seeds.h"

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/infer/size_order.h"
#include "crisp/model/load.h"

namespace crisp::flow {

train::RelabelReport relabel_seeds(const RelabelSeedsOptions& options, torch::Device device) {
  if (options.batch < 1) throw UsageError("--batch {}: at least one", options.batch);
  const data::Dataset dataset =
      open_tagged(options.data, options.split, options.tags_from, options.tags, options.seed, options.workers);
  train::RelabelOptions relabel = options.relabel;
  train::check(relabel);
  std::optional<data::SeedFolder> before;
  if (!options.seeds.empty()) {
    before.emplace(options.seeds);
    check_classes(before->facts().classes, dataset.classes);
  }
  model::Segmenter network = model::load_segmenter(options.model);
  check_classes(network->config.classes, dataset.classes);

  std::vector<data::Sample> photos;
  size_t without = 0;
  for (data::Sample& sample : dataset.samples(options.split)) {
    if (before && !before->has(sample.id)) {
      ++without;
      continue;
    }
    photos.push_back(std::move(sample));
  }
  if (photos.empty()) {
    throw Error("no photo of split {}{}", options.split, before ? " has labels in " + options.seeds.string() : "");
  }
  if (without > 0) log_warning("{} photo(s) of split {} have no labels so far and get none", without, options.split);
  network->to(device);
  const std::shared_ptr<feature::Store> store = open_features(*network->encoder, options.features, options.out, device);
  return train::relabel(
      network, infer::in_size_order(photos),
      {.made_by = options.command, .data = options.data.string(), .split = options.split, .classes = dataset.classes},
      before ? &*before : nullptr, &dataset, relabel, device, options.dtype, options.workers, options.batch,
      options.seed, options.out, store.get());
}

}  // namespace crisp::flow
