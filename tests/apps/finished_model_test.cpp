// What is made of a finished model, from the shell: relabel, calibrate.
#include "crisp/data/seed_folder.h"
#include "tests/apps/train_fixture.h"

namespace crisp::test {
namespace {

namespace fs = std::filesystem;

// A finished model labels photos for a next student, which knows its zoom.
TEST_F(Train, RelabelMakesSeedsForANextStudent) {
  ASSERT_EQ(train("--epochs 2 --val none --no-relabel --zoom 1.5" + from_seeds(), at("first")).status, 0);
  EXPECT_TRUE(contains(run_program("info " + quoted(at("first") / "model.safetensors")).out, "\"zoom\":1.5"));
  const std::string call = "relabel --data " + quoted(photos()) + " --model " + quoted(at("first")) + " --threads 2";
  const ProgramResult made = run_program(call + " --scales 1,0.5 --flip --refine par --out " + quoted(at("labels")));
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "12 photos in ")) << made.out;
  EXPECT_TRUE(contains(made.out, "mIoU against the masks")) << made.out;
  EXPECT_FALSE(contains(made.out, "as before")) << made.out;
  EXPECT_EQ(data::SeedFolder(at("labels")).facts().images, 12);
  const ProgramResult second = train(
      "--epochs 1 --val none --no-relabel --data " + quoted(photos()) + kQuick + "--seeds " + quoted(at("labels")),
      at("second"));
  EXPECT_EQ(second.status, 0) << second.err;

  // Photos in which a tag is missed keep the labels they have: seeds that are masks miss none.
  const ProgramResult kept = run_program(call + " --seeds " + quoted(seeds()) + " --out " + quoted(at("kept")));
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_TRUE(contains(kept.out, "% of the pixels as before")) << kept.out;
  const ProgramResult trusted = run_program(call + " --trust 0.5 --out " + quoted(at("x")));
  EXPECT_EQ(trusted.status, 2);
  EXPECT_TRUE(contains(trusted.err, "--trust 0.5: in which labels? It needs --seeds")) << trusted.err;
  EXPECT_FALSE(fs::exists(at("x")));
}

// By its tags, or by how much classes fill, a finished model is shifted.
TEST_F(Train, CalibrateShiftsAModelByTags) {
  const std::string how = "--epochs 2 --val none --no-relabel --infer-batch 4" + from_seeds();
  ASSERT_EQ(train(how, at("plain")).status, 0);
  const std::string call = "calibrate --data " + quoted(photos()) + " --model " + quoted(at("plain")) + " --threads 2";
  const ProgramResult made = run_program(call + " --out " + quoted(at("new.safetensors")));
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "tagged       found  found now  offset")) << made.out;
  const auto offsets = [&](const Path& file) {
    const std::string out = run_program("info " + quoted(file)).out;
    const size_t from = out.find("\"offsets\":[");
    return from == std::string::npos ? "" : out.substr(from, out.find(']', from) - from);
  };
  EXPECT_GT(offsets(at("new.safetensors")).size(), 12u);
  EXPECT_NE(offsets(at("new.safetensors")), offsets(at("plain") / "model.safetensors"));
  const std::string info = run_program("info " + quoted(at("new.safetensors"))).out;
  EXPECT_TRUE(contains(info, "f32")) << info;
  EXPECT_TRUE(contains(info, "labels = seeds")) << info;

  write_atomic(at("sizes.txt"), "# by eye\n" + read_classes((photos() / "classes.txt").string())[1] + " 55\n");
  const std::string sizes = " --sizes " + quoted(at("sizes.txt"));
  const ProgramResult sized = run_program(call + sizes + " --out " + quoted(at("sized.safetensors")));
  ASSERT_EQ(sized.status, 0) << sized.err;
  EXPECT_TRUE(contains(sized.out, "size   fills fills now  offset")) << sized.out;
  EXPECT_TRUE(contains(sized.out, "55.0%")) << sized.out;
  EXPECT_GT(offsets(at("sized.safetensors")).size(), 12u);
  EXPECT_NE(offsets(at("sized.safetensors")), offsets(at("new.safetensors")));
  const ProgramResult none = run_program(call + " --batch 0 --out " + quoted(at("x.safetensors")));
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(contains(none.err, "--batch 0: at least one")) << none.err;
}

// Tensors that are no network's.
TEST_F(Train, AFileWithNeitherEncoderNorHeadIsNoModelAndSaysSo) {
  const std::string file = quoted(golden("goldens/train/affinity.safetensors"));
  EXPECT_TRUE(contains(run_program("info " + file).out, "none, and no encoder that trainings start from"));
  const ProgramResult alone =
      run_program("predict " + quoted(photos() / "images") + " --model " + file + " --out " + quoted(at("masks")));
  EXPECT_EQ(alone.status, 1);
  EXPECT_TRUE(contains(alone.err, "affinity.safetensors: neither an encoder nor a head is in it")) << alone.err;
}

}  // namespace
}  // namespace crisp::test
