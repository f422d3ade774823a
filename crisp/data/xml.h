#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crisp::data {

// The names of a VOC annotation's objects: the text of every annotation/object/name, in order (names of
// body parts, which stand deeper, are not objects). A strict scanner of elements, no more: what is not
// well nested is an error that gives the byte. `name` begins the message.
std::vector<std::string> object_names(const std::string& name, std::string_view xml);

}  // namespace crisp::data
