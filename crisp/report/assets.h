#pragma once

#include <string_view>

// Files of assets/, put into the library when it is built (cmake/embed.cmake).
namespace crisp::report {

std::string_view page_html();
std::string_view style_css();

}  // namespace crisp::report
