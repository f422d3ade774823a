#pragma once

#include <string>
#include <vector>

#include "crisp/recipe/recipe.h"

namespace crisp::recipe {

// The recipes of the folder recipes/, which are part of the program: quick, standard, paper ...
const std::vector<std::string>& built_in_names();
Recipe built_in(const std::string& name);  // an Error lists the names

// One of those by its name, or a file.
Recipe load(const std::string& name_or_file);

}  // namespace crisp::recipe
