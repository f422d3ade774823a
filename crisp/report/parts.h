#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crisp/metric/accumulator.h"
#include "crisp/report/html.h"

// Parts that several pages have.
namespace crisp::report {

Html page_header(const std::string& kind, const std::string& title, const std::string& lead);

// "images", "24 of 1,464": a line of them under the header; empty without facts.
Html facts_list(const std::vector<std::pair<std::string, std::string>>& facts);

// A class's colour as a small square. `label` is below 256.
Html swatch(size_t label);

std::optional<metric::Interval> interval_of(const metric::Metrics& metrics, const metric::HeadlineField& field);

// A headline number, which must be there, with its interval, a gauge and what it means.
Html number_block(const metric::Metrics& metrics, const metric::HeadlineField& field);

// Lines of the form "what: how".
Html protocol_section(const std::vector<std::string>& protocol);

// How the page was made.
Html origin_section(const std::string& command, const std::string& version, const std::string& commit);

}  // namespace crisp::report
