#pragma once

#include <cstdint>
#include <string>

namespace crisp::train {

// Where in training a step is.
struct Moment {
  int64_t step = 0, steps = 1;  // step 0 is the first
  int64_t epoch = 0;

  double fraction() const { return static_cast<double>(step) / static_cast<double>(steps); }
};

enum class Decay { kConstant, kLinear, kPoly, kCosine };

Decay parse_decay(const std::string& name);  // "constant", "linear", "poly", "cosine"

struct ScheduleOptions {
  std::string decay = "linear";
  double power = 1.0;          // of poly
  double warmup_epochs = 1.0;  // the rate rises linearly from a small share of itself
  double warmup_start = 1e-2;
};

void check(const ScheduleOptions& options);

// The factor on every learning rate at a step. Warm-up takes at most a fifth of all steps, so that a short run still
// trains at its full rate.
double rate_factor(const ScheduleOptions& options, const Moment& now, int64_t steps_per_epoch);

}  // namespace crisp::train
