#include "crisp/train/student.h"

#include <algorithm>

#include "crisp/base/error.h"

namespace crisp::train {
namespace {

void check_fraction(const char* option, double value) {
  if (!(value >= 0 && value <= 1)) throw UsageError("{} {}: it lies between 0 and 1", option, value);
}

}  // namespace

StudentConfig student_row(const std::string& ablation, const std::string& uncertainty, int64_t width, int64_t classes) {
  StudentConfig config;
  config.head = model::ablation_row(ablation, width, classes);
  config.relabel = ablation == "A6";
  if (uncertainty.size() != 2 || uncertainty[0] != 'U' || uncertainty[1] < '0' || uncertainty[1] > '4') {
    throw UsageError("--uncertainty {}: it is one of U0, U1, U2, U3, U4", uncertainty);
  }
  const char row = uncertainty[1];
  const bool aleatoric = row >= '2', entropy = row == '1' || row >= '3';
  if (!aleatoric) config.head.variance = false;
  config.head.uncertainty = aleatoric ? model::UncertaintyInput::kVariance
                            : entropy ? model::UncertaintyInput::kEntropy
                                      : model::UncertaintyInput::kNone;
  config.loss.weight.aleatoric = aleatoric;
  config.loss.weight.entropy = entropy;
  config.loss.weighting = row != '0' && ablation >= "A2";
  config.sources = {.aleatoric = aleatoric, .entropy = entropy, .epistemic = row == '4'};
  return config;
}

void check(const Phases& phases) {
  check_fraction("--refiner-attached", phases.refiner_attached);
  check_fraction("--weighting-from", phases.weighting);
  check_fraction("--modulation-from", phases.modulation);
  check_fraction("--drop-first", phases.drop_first);
  check_fraction("--drop-last", phases.drop_last);
  check_fraction("--drop-until", phases.drop_until);
}

void check(const RelabelOptions& options) {
  check_fraction("--relabel-from", options.from);
  if (!(options.every > 0 && options.every <= 1)) {
    throw UsageError("--relabel-every {}: a fraction of training above 0", options.every);
  }
  if (options.passes < 1) throw UsageError("--passes {}: at least one", options.passes);
  if (options.scales.empty()) throw UsageError("--relabel-scales: at least one scale is needed");
  for (const double scale : options.scales) {
    if (!(scale >= 0.05 && scale <= 8)) throw UsageError("--relabel-scales {}: a scale lies between 0.05 and 8", scale);
  }
  check_fraction("--keep-first", options.keep_first);
  check_fraction("--keep-last", options.keep_last);
  if (options.keep_at_least < 0) throw UsageError("--keep-pixels {}: it is not negative", options.keep_at_least);
  if (!(options.found_at_least >= 0 && options.found_at_least <= 1)) {
    throw UsageError("--found {}: a share of the tags, between 0 and 1", options.found_at_least);
  }
  if (!(options.threshold >= 0 && options.threshold <= 1)) {
    throw UsageError("--tau {}: an uncertainty lies between 0 and 1", options.threshold);
  }
}

double drop_share(const Phases& phases, double fraction) {
  const double along = phases.drop_until > 0 ? std::min(1.0, fraction / phases.drop_until) : 1;
  return phases.drop_first + (phases.drop_last - phases.drop_first) * along;
}

double drop_share(const RelabelOptions& options, double fraction) {
  const double along = options.from < 1 ? std::clamp((fraction - options.from) / (1 - options.from), 0.0, 1.0) : 1;
  return 1 - (options.keep_first + (options.keep_last - options.keep_first) * along);
}

}  // namespace crisp::train
