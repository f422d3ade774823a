#pragma once

#include <string>
#include <string_view>

#include "crisp/base/classes.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/compare.h"

namespace crisp::metric {

// An accumulator as text and back, exact to the last bit: what `compare` reads from an output folder and what
// processes exchange. `source` (a path) begins the Error for text that is not what to_json wrote.
std::string to_json(const Accumulator& accumulator);
Accumulator accumulator_from_json(std::string_view text, const std::string& source);

// The body of metrics.json: headline numbers at the top level (null where there is none), ci95, per_class,
// reliability, images, skipped, protocol. `names` has K entries.
std::string to_json(const Metrics& metrics, const ClassNames& names, int64_t skipped = 0);

// A comparison: numbers by name, then classes and images, largest change first.
std::string to_json(const Comparison& comparison, const ClassNames& names);

}  // namespace crisp::metric
