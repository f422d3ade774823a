#include "crisp/recipe/built_in.h"

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "crisp/base/text.h"
#include "crisp/recipe/text.h"
#include "crisp_recipes.h"

namespace crisp::recipe {

const std::vector<std::string>& built_in_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, text] : kRecipes) all.emplace_back(name);
    return all;
  }();
  return names;
}

Recipe built_in(const std::string& name) {
  for (const auto& [known, text] : kRecipes) {
    if (name == known) return from_toml(text, name);
  }
  throw Error("no recipe is called '{}'; there are {}", name, join(built_in_names(), ", "));
}

Recipe load(const std::string& name_or_file) {
  const bool file = name_or_file.ends_with(".toml") || name_or_file.find('/') != std::string::npos;
  if (!file) return built_in(name_or_file);
  return from_toml(read_text(name_or_file), name_or_file);
}

}  // namespace crisp::recipe
