#pragma once

#include <map>
#include <string>
#include <vector>

#include "crisp/recipe/recipe.h"

namespace crisp::recipe {

// Everything below names fields by their paths (fields.h) and throws an Error that names the path, what was given and
// what it may be. No message speaks of a command line.

// `text` is a value as TOML has it; words and names may stand without quotes: set(r, "loss.dice", "0.3").
void set(Recipe& recipe, const std::string& path, const std::string& text);
std::string get(const Recipe& recipe, const std::string& path);  // as TOML has it

// Path and value of every field, in the order of the list.
std::vector<std::pair<std::string, std::string>> values(const Recipe& recipe);

// A TOML file: tables and keys are paths; `base` names the recipe that it changes, by default "paper". `source` is
// named in errors. to_toml() writes every field, with its sentence as a comment where asked.
Recipe from_toml(const std::string& text, const std::string& source);
std::string to_toml(const Recipe& recipe, bool comments = false);

struct Difference {
  std::string path, a, b;
};
std::vector<Difference> difference(const Recipe& a, const Recipe& b);

// Throws where fields do not go together; that each is within its range is checked when it is set.
void check(const Recipe& recipe);

// What one stage is made from: "classify", "seeds" or "train". Equal texts give equal results from equal inputs.
std::string part_of(const Recipe& recipe, const std::string& stage);

// The page that lists all fields: docs/options.md.
std::string options_page(const std::vector<Recipe>& recipes);

}  // namespace crisp::recipe
