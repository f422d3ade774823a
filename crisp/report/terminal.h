#pragma once

#include <optional>
#include <string>

#include "crisp/base/classes.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/compare.h"

namespace crisp::report {

// Tables for a terminal. `left_out` is a second evaluation of the same images without ignored pixels (seeds).
std::string to_text(const metric::Metrics& metrics, const ClassNames& names, const metric::Metrics* left_out = nullptr);

// Numbers with difference, interval and p-value, then the `most` classes and images that changed most.
std::string to_text(const metric::Comparison& comparison, const ClassNames& names, size_t most = 8);

}  // namespace crisp::report
