#pragma once

#include <string>
#include <vector>

#include "crisp/report/html.h"

// Parts that several pages have.
namespace crisp::report {

Html page_header(const std::string& kind, const std::string& title, const std::string& lead);

// Lines of the form "what: how".
Html protocol_section(const std::vector<std::string>& protocol);

// How the page was made.
Html origin_section(const std::string& command, const std::string& version, const std::string& commit);

}  // namespace crisp::report
