// Recipes: every field through TOML, text and back; errors that name the field; what the built-in ones say.
#include "crisp/recipe/fields.h"

#include <gtest/gtest.h>

#include "crisp/recipe/built_in.h"
#include "crisp/recipe/text.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

using recipe::Recipe;

// Another value than the one there, within the field's range.
bool other(const recipe::Field&, bool value) { return !value; }
int64_t other(const recipe::Field& field, int64_t value) {
  return static_cast<double>(value + 1) <= field.most ? value + 1 : value - 1;
}
double other(const recipe::Field& field, double value) {
  const double up = value + 0.03125;
  return up <= field.most ? up : value - 0.03125;
}
std::string other(const recipe::Field&, const std::string& value) { return value + "0"; }
template <typename T>
std::vector<T> other(const recipe::Field& field, const std::vector<T>& value) {
  std::vector<T> more = value;
  if constexpr (std::is_enum_v<T>) {
    more.push_back(recipe::Words<T>::all()[1].first);
  } else {
    more.push_back(std::max<T>(field.least, 0.75));
  }
  return more;
}
template <typename Enum>
  requires std::is_enum_v<Enum>
Enum other(const recipe::Field&, Enum value) {
  for (const auto& [choice, word] : recipe::Words<Enum>::all()) {
    if (choice != value) return choice;
  }
  return value;
}

TEST(Recipe, EveryFieldSurvivesFilesAndTexts) {
  for (const std::string& name : recipe::built_in_names()) {
    const Recipe plain = recipe::built_in(name);
    EXPECT_TRUE(recipe::difference(plain, recipe::from_toml(recipe::to_toml(plain), name)).empty()) << name;
    Recipe changed = plain;
    recipe::for_each_field(changed, [](const recipe::Field& field, auto& value) { value = other(field, value); });
    const size_t fields = recipe::values(plain).size();
    EXPECT_EQ(recipe::difference(plain, changed).size(), fields) << name;
    const Recipe read = recipe::from_toml(recipe::to_toml(changed, /*comments=*/true), name);
    for (const recipe::Difference& lost : recipe::difference(changed, read)) {
      ADD_FAILURE() << name << ": " << lost.path << " " << lost.a << " became " << lost.b;
    }
    Recipe typed = plain;
    for (const auto& [path, text] : recipe::values(changed)) recipe::set(typed, path, text);
    EXPECT_TRUE(recipe::difference(changed, typed).empty()) << name;
  }
}

TEST(Recipe, PathsAreUniqueAndEachHasASentence) {
  Recipe recipe;
  std::vector<std::string> paths;
  recipe::for_each_field(recipe, [&](const recipe::Field& field, auto&) {
    EXPECT_NE(std::string(field.path).find('.'), std::string::npos) << field.path;
    EXPECT_NE(std::string(field.says), "") << field.path;
    EXPECT_EQ(std::count(paths.begin(), paths.end(), field.path), 0) << field.path;
    paths.emplace_back(field.path);
  });
}

TEST(Recipe, WordsNeedNoQuotes) {
  Recipe recipe;
  recipe::set(recipe, "model.row", "A3");
  EXPECT_EQ(recipe.student.model.row, recipe::Row::kA3);
  recipe::set(recipe, "seeds.refine", "affinity,par");
  EXPECT_EQ(recipe.seeds.refine, (std::vector{recipe::Refinement::kAffinity, recipe::Refinement::kPar}));
  recipe::set(recipe, "seeds.refine", "[]");
  EXPECT_TRUE(recipe.seeds.refine.empty());
  recipe::set(recipe, "seeds.scales", "1.5");
  EXPECT_EQ(recipe.seeds.scales, std::vector<double>{1.5});
  recipe::set(recipe, "loss.dice", "1");
  EXPECT_EQ(recipe.student.loss.dice, 1);
  recipe::set(recipe, "encoder.arch", "vit_s14");
  EXPECT_EQ(recipe.encoder.arch, "vit_s14");
}

TEST(Recipe, ErrorsNameTheFieldAndWhatItMayBe) {
  Recipe recipe;
  const auto refused = [&](const char* path, const char* text) {
    return error_of([&] { recipe::set(recipe, path, text); });
  };
  EXPECT_EQ(refused("loss.dise", "1"), "loss.dise: no field of a recipe; is it loss.dice?");
  EXPECT_EQ(refused("loss.dice", "-1"), "loss.dice = -1: it is a number of at least 0");
  EXPECT_EQ(refused("loss.dice", "nan"), "loss.dice = nan: it is a number of at least 0");
  EXPECT_EQ(refused("loss.dice", "much"), "loss.dice = 'much': it is a number");
  EXPECT_EQ(refused("model.dropout", "2"), "model.dropout = 2: it is a number from 0 to 0.9");
  EXPECT_EQ(refused("model.row", "A9"), "model.row = 'A9': it is one of A0, A1, A2, A3, A4, A5, A6");
  EXPECT_EQ(refused("relabel.passes", "1.5"), "relabel.passes = 1.5: it is a whole number");
  EXPECT_EQ(refused("relabel.on", "1"), "relabel.on = 1: it is true or false");
  EXPECT_EQ(error_of([] { recipe::from_toml("[loss]\ndice = 3\n[los]\ndice = 3\n", "mine.toml"); }),
            "mine.toml: los.dice: no field of a recipe; is it loss.dice?");
  EXPECT_TRUE(contains(error_of([] { recipe::from_toml("[loss\n", "mine.toml"); }), "mine.toml, line 1: "));
  EXPECT_TRUE(
      contains(error_of([] { recipe::from_toml("base = \"best\"\n", "mine.toml"); }), "no recipe is called 'best'"));
}

TEST(Recipe, AFileChangesItsBase) {
  const Recipe mine = recipe::from_toml("base = \"standard\"\n[loss]\ndice = 3\n", "mine.toml");
  const auto differences = recipe::difference(recipe::built_in("standard"), mine);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].path, "loss.dice");
  EXPECT_EQ(mine.name, "mine.toml");
}

TEST(Recipe, TheBuiltInOnesMakeSense) {
  EXPECT_GE(recipe::built_in_names().size(), 3u);
  for (const std::string& name : recipe::built_in_names()) {
    const Recipe recipe = recipe::built_in(name);
    EXPECT_EQ(recipe.name, name);
    EXPECT_NE(recipe.about, "") << name;
    EXPECT_NO_THROW(recipe::check(recipe)) << name;
  }
}

TEST(Recipe, FieldsThatDoNotGoTogetherAreRefused) {
  Recipe recipe = recipe::built_in("standard");
  recipe.encoder.arch = "mit_b0";
  EXPECT_TRUE(contains(error_of([&] { recipe::check(recipe); }), "seeds.crossfit = 1: it needs the tokens of a ViT"));
  recipe = recipe::built_in("standard");
  recipe.student.schedule.photos = 0;
  EXPECT_TRUE(contains(error_of([&] { recipe::check(recipe); }), "student.schedule.epochs = 0"));
}

TEST(Recipe, AStageIsMadeOfItsOwnFields) {
  const Recipe plain = recipe::built_in("standard");
  Recipe changed = plain;
  changed.student.loss.dice = 7;
  EXPECT_EQ(recipe::part_of(plain, "classify"), recipe::part_of(changed, "classify"));
  EXPECT_EQ(recipe::part_of(plain, "seeds"), recipe::part_of(changed, "seeds"));
  EXPECT_NE(recipe::part_of(plain, "train"), recipe::part_of(changed, "train"));
  changed = plain;
  changed.student.schedule.checkpoint_every = 7;
  EXPECT_EQ(recipe::part_of(plain, "train"), recipe::part_of(changed, "train")) << "decides nothing";
  // Every field belongs to a stage.
  for (const auto& [path, value] : recipe::values(plain)) {
    size_t stages = path.ends_with("checkpoint_every");
    for (const char* stage : {"classify", "seeds", "train"}) {
      stages += contains(recipe::part_of(plain, stage), path + " = ");
    }
    EXPECT_GE(stages, 1u) << path;
  }
}

}  // namespace
}  // namespace crisp::test
