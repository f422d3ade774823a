#pragma once

#include <string>

#include "crisp/base/classes.h"
#include "crisp/metric/accumulator.h"

namespace crisp::metric {

// Tables for a spreadsheet: commas, a header line, an empty cell where there is no number, text with a comma or
// a quote in quotes. `names` has K entries.
std::string per_class_csv(const Metrics& metrics, const ClassNames& names);
std::string per_image_csv(const Accumulator& accumulator);  // a line an image, by name, all headline numbers
std::string confusion_csv(const Metrics& metrics, const ClassNames& names);

}  // namespace crisp::metric
