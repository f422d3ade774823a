#include "apps/recipe_options.h"

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/recipe/built_in.h"
#include "crisp/recipe/text.h"

namespace crisp::apps {
namespace {

// The library's errors name fields; here they name the option too.
template <typename Work>
auto said_of(const std::string& option, const Work& work) {
  try {
    return work();
  } catch (const Error& problem) {
    throw UsageError("{}: {}", option, problem.what());
  }
}

}  // namespace

void bind_recipe(CLI::App& app, RecipeWords& words) {
  app.add_option("--recipe", words.recipe,
                 "what is made how: " + join(recipe::built_in_names(), ", ") + ", or a file (`crispformer recipe`)");
  app.add_option("--set", words.sets, "changes one field of the recipe: --set loss.edge_weight=2; may be given again");
  app.add_option("--arch", words.arch, "short for --set encoder.arch=NAME");
  app.add_option("--init", words.weights, "encoder weights to start from, short for --set encoder.weights=FILE");
  app.add_option("--refine", words.refine,
                 "of the seeds, short for --set seeds.refine=...: none, or of crf, par, affinity")
      ->delimiter(',');
}

recipe::Recipe recipe_of(const RecipeWords& words) {
  recipe::Recipe recipe = said_of("--recipe " + words.recipe, [&] { return recipe::load(words.recipe); });
  const auto change = [&](const std::string& option, const std::string& path, const std::string& value) {
    said_of(option, [&] { recipe::set(recipe, path, value); });
  };
  if (!words.arch.empty()) change("--arch", "encoder.arch", '"' + words.arch + '"');
  if (!words.weights.empty()) change("--init", "encoder.weights", '"' + words.weights + '"');
  if (!words.refine.empty()) {
    const std::string chain = join(words.refine, ",");
    change("--refine", "seeds.refine", chain == "none" ? "[]" : chain);
  }
  for (const std::string& set : words.sets) {
    const size_t equals = set.find('=');
    if (equals == std::string::npos) throw UsageError("--set {}: it is FIELD=VALUE, as loss.edge_weight=2", set);
    change("--set " + set, trim(set.substr(0, equals)), trim(set.substr(equals + 1)));
  }
  said_of("--recipe " + words.recipe, [&] { recipe::check(recipe); });
  return recipe;
}

}  // namespace crisp::apps
