// `crispformer run` from the shell: the whole way on few scenes, each training again by itself, nothing made twice.
#include "tests/apps/seeds_fixture.h"

namespace crisp::test {
namespace {

namespace fs = std::filesystem;

TEST(Run, EachTrainingCanBeRepeatedByItsOwnConfiguration) {
  const TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return folder.path() / name; };
  ProgramResult made = run_program("synth --images 10 --size 64 --classes 4 --seed 3 --out " + quoted(at("photos")));
  ASSERT_EQ(made.status, 0) << made.err;
  // A recipe with a flag that is on.
  const std::string command =
      "run --recipe voc12 --data " + quoted(at("photos")) +
      " --arch mit_b0 --set classify.augment.crop=32 --set student.augment.crop=32 --set model.input_scale=1" +
      " --set classify.optimiser.batch=4 --set student.optimiser.batch=4" +
      " --set classify.schedule.epochs=1 --set student.schedule.epochs=1" + " --threads 2 --seed 5 --out " +
      quoted(at("all"));
  made = run_program(command);
  ASSERT_EQ(made.status, 0) << made.err;
  for (const char* file : {"student/model.safetensors", "report.html", "config.toml", "recipe.toml", "stages.json"}) {
    EXPECT_TRUE(fs::exists(at("all") / file)) << file;
  }
  for (const auto& [program, stage] : {std::pair{"classify", "classifier"}, {"train", "student"}}) {
    const std::string config = read_text(at("all") / stage / "config.toml");
    EXPECT_NE(config.find("seed=5"), std::string::npos) << config;
    made = run_program(std::string(program) + " --config " + quoted(at("all") / stage / "config.toml") +
                       " --threads 2 --out " + quoted(at(stage)));
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(read_text(at(stage) / "model.safetensors"), read_text(at("all") / stage / "model.safetensors")) << stage;
  }
  EXPECT_NE(read_text(at("all") / "student/config.toml").find("relabel-flip=true"), std::string::npos);

  const auto before = fs::last_write_time(at("all") / "student/model.safetensors");
  made = run_program(command);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(fs::last_write_time(at("all") / "student/model.safetensors"), before) << "nothing has changed";
  EXPECT_NE(made.out.find("use it: crispformer predict"), std::string::npos) << made.out;

  // As if an older program had made the student otherwise: every option counts, also those that `run` does not have.
  std::string stages = read_text(at("all") / "stages.json");
  const size_t fusion = stages.find("fusion=\\\"dmf");
  ASSERT_NE(fusion, std::string::npos) << stages;
  write_atomic(at("all") / "stages.json", stages.replace(fusion, 12, "fusion=\\\"sum"));
  made = run_program(command);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("classify: there already"), std::string::npos) << made.err;
  EXPECT_EQ(made.err.find("train: there already"), std::string::npos) << made.err;
  EXPECT_NE(fs::last_write_time(at("all") / "student/model.safetensors"), before);
}

TEST(Recipe, IsListedShownAndCompared) {
  const TemporaryFolder folder;
  const ProgramResult list = run_program("recipe list");
  ASSERT_EQ(list.status, 0) << list.err;
  for (const char* name : {"quick", "standard", "paper", "voc12"}) EXPECT_TRUE(contains(list.out, name)) << list.out;
  const ProgramResult shown = run_program("recipe show standard");
  EXPECT_TRUE(contains(shown.out, "[loss]\n# weight of the cross-entropy\ncross_entropy = 1\n")) << shown.out;
  write_atomic(folder.path() / "mine.toml", "base = \"standard\"\n[loss]\ndice = 0.25\n");
  const ProgramResult diff = run_program("recipe diff standard " + quoted(folder.path() / "mine.toml"));
  EXPECT_TRUE(contains(diff.out, "loss.dice")) << diff.out;
  EXPECT_FALSE(contains(diff.out, "loss.boundary")) << diff.out;
  write_atomic(folder.path() / "shown.toml", shown.out);
  EXPECT_TRUE(
      contains(run_program("recipe diff standard " + quoted(folder.path() / "shown.toml")).out, "they are the same"));
}

TEST(Recipe, ErrorsNameFieldAndOption) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& options) {
    const ProgramResult result =
        run_program("run --data " + quoted(folder.path()) + " --out " + quoted(folder.path() / "out") + " " + options);
    EXPECT_EQ(result.status, 2) << result.err;
    return result.err;
  };
  EXPECT_TRUE(contains(refused("--recipe best"), "--recipe best: no recipe is called 'best'; there are paper, quick"));
  EXPECT_TRUE(
      contains(refused("--set loss.dise=2"), "--set loss.dise=2: loss.dise: no field of a recipe; is it loss.dice?"));
  EXPECT_TRUE(
      contains(refused("--set loss.dice=-2"), "--set loss.dice=-2: loss.dice = -2: it is a number of at least 0"));
  EXPECT_TRUE(contains(refused("--set loss.dice"), "--set loss.dice: it is FIELD=VALUE"));
  EXPECT_TRUE(contains(refused("--arch mit_b0"), "seeds.crossfit = 1: it needs the tokens of a ViT"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

}  // namespace
}  // namespace crisp::test
