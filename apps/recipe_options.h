#pragma once

#include <string>
#include <vector>

#include "apps/command_line.h"
#include "crisp/recipe/recipe.h"

namespace crisp::apps {

// Which recipe, and what of it is changed, as typed.
struct RecipeWords {
  std::string recipe = "standard", arch, weights;
  std::vector<std::string> refine, sets;
};

void bind_recipe(CLI::App& app, RecipeWords& words);

// The recipe that was asked for, checked; `--set` wins over the short options. A UsageError names field and option.
recipe::Recipe recipe_of(const RecipeWords& words);

}  // namespace crisp::apps
