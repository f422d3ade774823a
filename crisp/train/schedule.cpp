#include "crisp/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "crisp/base/error.h"

namespace crisp::train {

Decay parse_decay(const std::string& name) {
  if (name == "constant") return Decay::kConstant;
  if (name == "linear") return Decay::kLinear;
  if (name == "poly") return Decay::kPoly;
  if (name == "cosine") return Decay::kCosine;
  throw UsageError("--decay {}: it is one of constant, linear, poly, cosine", name);
}

void check(const ScheduleOptions& options) {
  parse_decay(options.decay);
  if (!(options.power > 0)) throw UsageError("--power {}: it is above 0", options.power);
  if (!(options.warmup_epochs >= 0)) throw UsageError("--warmup {}: it is not negative", options.warmup_epochs);
}

double rate_factor(const ScheduleOptions& options, const Moment& now, int64_t steps_per_epoch) {
  const auto steps = static_cast<double>(now.steps), step = static_cast<double>(now.step);
  const double warmup = std::floor(std::min(options.warmup_epochs * static_cast<double>(steps_per_epoch), 0.2 * steps));
  if (step < warmup) return options.warmup_start + (1 - options.warmup_start) * step / warmup;
  const double left = 1 - (step - warmup) / std::max(1.0, steps - warmup);  // 1 after warm-up, towards 0
  switch (parse_decay(options.decay)) {
    case Decay::kConstant:
      return 1;
    case Decay::kLinear:
      return left;
    case Decay::kPoly:
      return std::pow(left, options.power);
    case Decay::kCosine:
      return 0.5 * (1 - std::cos(std::numbers::pi * left));
  }
  return 1;
}

}  // namespace crisp::train
