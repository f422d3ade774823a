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
  // `standard` has a flag that is on.
  const std::string command = "run --preset standard --data " + quoted(at("photos")) +
                              " --arch mit_b0 --crop 32 --zoom 1 --batch 4 --classifier-epochs 1 --student-epochs 1" +
                              " --threads 2 --seed 5 --out " + quoted(at("all"));
  made = run_program(command);
  ASSERT_EQ(made.status, 0) << made.err;
  for (const char* file : {"student/model.safetensors", "report.html", "config.toml", "stages.json"}) {
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
  const size_t fusion = stages.find("mixed");
  ASSERT_NE(fusion, std::string::npos) << stages;
  write_atomic(at("all") / "stages.json", stages.replace(fusion, 5, "dmf"));
  made = run_program(command);
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("classify: there already"), std::string::npos) << made.err;
  EXPECT_EQ(made.err.find("train: there already"), std::string::npos) << made.err;
  EXPECT_NE(fs::last_write_time(at("all") / "student/model.safetensors"), before);
}

}  // namespace
}  // namespace crisp::test
