#include <fmt/format.h>

#include "apps/command_line.h"
#include "crisp/base/error.h"
#include "crisp/recipe/built_in.h"
#include "crisp/recipe/text.h"

namespace crisp::apps {
namespace {

void list() {
  for (const std::string& name : recipe::built_in_names()) {
    fmt::print("{:<14} {}\n", name, recipe::built_in(name).about);
  }
}

void print_difference(const std::string& a, const std::string& b) {
  const std::vector<recipe::Difference> all = recipe::difference(recipe::load(a), recipe::load(b));
  size_t path = 5, left = a.size();
  for (const recipe::Difference& one : all) {
    path = std::max(path, one.path.size());
    left = std::max(left, one.a.size());
  }
  fmt::print("{:<{}}  {:<{}}  {}\n", "field", path, a, left, b);
  for (const recipe::Difference& one : all) fmt::print("{:<{}}  {:<{}}  {}\n", one.path, path, one.a, left, one.b);
  if (all.empty()) fmt::print("they are the same\n");
}

}  // namespace

int run_recipe(const Arguments& arguments) {
  CommandLine line(
      "recipe",
      "What a run is made by, as one value: encoder, tag classifier, seeds, student, relabelling. Lists the "
      "recipes built into the program, shows one with what each field means, or what differs between two. A "
      "file of one's own says `base = \"standard\"` and what it changes.",
      "  crispformer recipe list\n"
      "  crispformer recipe show standard > mine.toml\n"
      "  crispformer recipe diff paper standard\n"
      "  crispformer run --data photos/ --recipe mine.toml --set loss.edge_weight=2 --out runs/mine\n");
  CLI::App* list_command = line.app.add_subcommand("list", "the recipes built into the program");
  CLI::App* show = line.app.add_subcommand("show", "every field of a recipe, as a file that can be changed");
  CLI::App* diff = line.app.add_subcommand("diff", "what differs between two recipes");
  CLI::App* options = line.app.add_subcommand("options", "docs/options.md: every field, with all recipes");
  std::string name = "standard", a, b;
  show->add_option("recipe", name, "its name, or a file")->required();
  diff->add_option("a", a, "name or file")->required();
  diff->add_option("b", b, "name or file")->required();
  line.app.require_subcommand(1);
  if (!line.parse(arguments)) return 0;
  if (*list_command) list();
  if (*show) fmt::print("{}", recipe::to_toml(recipe::load(name), /*comments=*/true));
  if (*diff) print_difference(a, b);
  if (*options) {
    std::vector<recipe::Recipe> all;
    for (const std::string& one : recipe::built_in_names()) all.push_back(recipe::built_in(one));
    fmt::print("{}", recipe::options_page(all));
  }
  return 0;
}

}  // namespace crisp::apps
