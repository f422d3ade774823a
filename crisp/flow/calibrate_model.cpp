#include "crisp/flow/calibrate_model.h"

#include "crisp/base/error.h"
#include "crisp/data/class_sizes.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/infer/size_order.h"
#include "crisp/model/load.h"

namespace crisp::flow {

CalibrateReport calibrate_model(const CalibrateOptions& options, torch::Device device) {
  if (options.batch < 1) throw UsageError("--batch {}: at least one", options.batch);
  const data::Dataset dataset =
      open_tagged(options.data, options.split, options.tags_from, options.tags, options.seed, options.workers);
  model::Segmenter network = model::load_segmenter(options.model);
  check_classes(network->config.classes, dataset.classes);
  std::vector<data::Sample> photos;
  for (data::Sample& sample : dataset.samples(options.split)) {
    if (sample.has_tags) photos.push_back(std::move(sample));
  }
  network->to(device);
  train::MatchTo to;
  if (!options.sizes.empty()) to.sizes = data::read_class_sizes(options.sizes, dataset.classes);
  CalibrateReport report{train::match_network(network, infer::in_size_order(photos), options.photos, to, device,
                                              options.dtype, options.workers, options.batch),
                         dataset.classes};
  model::Segmenter calibrated = train::shifted(network, report.match.offsets);
  calibrated->to(torch::kCPU);
  model::save_changed(options.out, calibrated, options.model, {{"calibrated_by", to.sizes.empty() ? "tags" : "sizes"}});
  return report;
}

}  // namespace crisp::flow
