#pragma once

#include <string>
#include <string_view>

#include "crisp/report/html.h"

namespace crisp::report {

// The finished document: title and body in the skeleton of assets/page.html, with its style.
std::string page(const std::string& title, const Html& body);

// A heading, a line that says what is seen, and the contents.
Html section(std::string_view title, const Html& lead, const Html& contents);

Html card(const Html& contents);

}  // namespace crisp::report
