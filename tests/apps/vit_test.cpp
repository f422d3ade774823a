// The whole way on a frozen ViT: tags, seeds, a student, what is made of it, and what goes wrong.
#include "tests/apps/train_fixture.h"

namespace crisp::test {
namespace {

class OnVit : public Train {
 protected:
  static constexpr const char* kQuickTags = " --arch vit_s14 --epochs 2 --batch 4 --threads 1 --seed 9 ";
  static constexpr const char* kQuickStudent =
      " --arch vit_s14 --epochs 2 --batch 4 --width 16 --fine 1 --label-side 32 --passes 2 --threads 1 --seed 9 ";

  ProgramResult classify() {
    return run_program("classify --data " + quoted(photos()) + kQuickTags + "--out " + quoted(at("tags")));
  }
  ProgramResult make_seeds(const std::string& options, const Path& out) {
    return run_program("seeds --data " + quoted(photos()) + " --classifier " + quoted(at("tags")) +
                       " --refine none --threads 1 --seed 9 " + options + " --out " + quoted(out));
  }
  std::string student_from(const Path& labels) {
    return "--data " + quoted(photos()) + " --seeds " + quoted(labels) + kQuickStudent;
  }
};

TEST_F(OnVit, FromTagsToMasksAndBack) {
  const ProgramResult tags = classify();
  ASSERT_EQ(tags.status, 0) << tags.err;
  EXPECT_TRUE(contains(tags.err, "features of 15 of 15 photos")) << tags.err;  // 12 to learn from, 3 to look at

  const Path labels = at("labels");
  const ProgramResult seeds = make_seeds("", labels);
  ASSERT_EQ(seeds.status, 0) << seeds.err;
  EXPECT_TRUE(contains(seeds.err, "features: all 12 are there")) << seeds.err;
  EXPECT_TRUE(std::filesystem::exists(labels / "crossfit/round1_half2.safetensors"));
  const auto made = nlohmann::json::parse(json(labels / "seeds.json")["options"].dump());
  EXPECT_EQ(made["crossfit"], 1);
  EXPECT_EQ(made["background"], "0.45");

  for (const std::string row : {"A0", "A6"}) {
    const Path run = at(row);
    const ProgramResult learned = train(student_from(labels) + "--ablation " + row, run);
    ASSERT_EQ(learned.status, 0) << learned.err;
    const ProgramResult scored = run_program("eval --data " + quoted(photos()) + " --split val --threads 1 --model " +
                                             quoted(run) + " --out " + quoted(at(row + "-eval")));
    ASSERT_EQ(scored.status, 0) << scored.err;
    EXPECT_EQ(json(at(row + "-eval") / "metrics.json")["images"], 3);
  }
  EXPECT_FALSE(log_of(at("A6")).empty());

  const ProgramResult known = run_program("info " + quoted(at("A6")));
  EXPECT_TRUE(contains(known.out, "vit_s14")) << known.out << known.err;
  const ProgramResult predicted = run_program("predict --threads 1 --scales 1,1.5 --flip --model " + quoted(at("A6")) +
                                              " --out " + quoted(at("masks")) + " " + quoted(photos() / "images"));
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  const ProgramResult again =
      run_program("relabel --threads 1 --data " + quoted(photos()) + " --model " + quoted(at("A6")) + " --seeds " +
                  quoted(labels) + " --flip --out " + quoted(at("labels2")));
  ASSERT_EQ(again.status, 0) << again.err;
}

TEST_F(OnVit, KilledWhileFeaturesAreMadeEndsWithTheSameBits) {
  ASSERT_EQ(classify().status, 0);
  ASSERT_EQ(make_seeds("", at("labels")).status, 0);
  const std::string whole = read_text(at("tags") / "model.safetensors");
  const std::string head = read_text(at("labels") / "crossfit/round1_half1.safetensors");
  std::filesystem::rename(at("tags"), at("tags-before"));
  std::filesystem::remove_all(at("features"));
  const std::string size = "stat -c %s " + quoted(at("features") / "features-00000.bin") + " 2>/dev/null || echo 0";
  disturbed("classify --data " + quoted(photos()) + kQuickTags + "--out " + quoted(at("tags")), size, 9'000'000,
            "kill -9 $pid");
  ASSERT_FALSE(std::filesystem::exists(at("tags") / "model.safetensors"));
  const ProgramResult resumed = run_program("classify --resume " + quoted(at("tags")));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_FALSE(contains(resumed.err, "features of 15 of 15")) << resumed.err;
  EXPECT_TRUE(read_text(at("tags") / "model.safetensors") == whole);
  std::filesystem::remove_all(at("labels"));
  ASSERT_EQ(make_seeds("", at("labels")).status, 0);
  EXPECT_TRUE(read_text(at("labels") / "crossfit/round1_half1.safetensors") == head);
}

TEST_F(OnVit, WithoutABackgroundEveryPixelIsOfATag) {
  const Path data = at("stuff");
  std::filesystem::copy(photos(), data, std::filesystem::copy_options::recursive);
  write_atomic(data / "tags.txt", std::string(kNoBackground) + "\n" + read_text(data / "tags.txt"));
  const auto run = [&](const std::string& arguments) {
    const ProgramResult done = run_program(arguments);
    EXPECT_EQ(done.status, 0) << arguments << done.err;
    return done;
  };
  const std::string from = " --data " + quoted(data);
  run("classify" + from + kQuickTags + "--out " + quoted(at("tags")));
  run("seeds" + from + " --classifier " + quoted(at("tags")) + " --threads 1 --seed 9 --out " + quoted(at("labels")));
  const nlohmann::json seeds = json(at("labels") / "seeds.json");
  EXPECT_EQ(seeds["classes"][0], kNoBackground);
  EXPECT_EQ(seeds["counts"][kNoBackground]["pixels"], 0);
  const std::string student = from + " --seeds " + quoted(at("labels")) + kQuickStudent +
                              "--propagate 4 --relabel-from 0.4 --relabel-every 1 --relabel-checked "
                              "--relabel-refine par --found 0 ";
  for (const std::string row : {"A0", "A6"}) {
    run("train" + student + "--ablation " + row + " --out " + quoted(at(row)));
    run("predict --threads 1 --model " + quoted(at(row)) + " --out " + quoted(at(row + "-masks")) + " " +
        quoted(data / "images"));
    for (const Path& file : list_files(at(row + "-masks") / "mask", {".png"})) {
      const image::Mask mask = image::read_mask(file);
      EXPECT_EQ(std::count(mask.labels.begin(), mask.labels.end(), 0), 0) << file;
    }
  }
  EXPECT_EQ(json(at("A6") / "relabelled/round-01/seeds.json")["counts"][kNoBackground]["pixels"], 0);
  const ProgramResult refused = run_program("seeds" + from + " --untagged background --classifier " +
                                            quoted(at("tags")) + " --out " + quoted(at("refused")));
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_TRUE(contains(refused.err, "no background")) << refused.err;
}

TEST_F(OnVit, MistakesSayWhatToDo) {
  const auto error_of = [&](const std::string& arguments) {
    const ProgramResult failed = run_program(arguments + " --out " + quoted(at("x")));
    EXPECT_NE(failed.status, 0);
    return failed.err;
  };
  const std::string data = " --data " + quoted(photos());
  EXPECT_TRUE(contains(error_of("classify --arch vit_s14 --init none" + data), "--init none"));
  EXPECT_TRUE(contains(error_of("classify --arch vit_s14 --mosaic 0.5" + data), "--mosaic"));
  EXPECT_TRUE(contains(error_of("classify --arch vit_s14 --cache-gb -1" + data), "--cache-gb"));
  const Path missing = at("elsewhere") / "dinov2_vits14.safetensors";
  EXPECT_TRUE(contains(error_of("classify --arch vit_s14 --init " + quoted(missing) + data), missing.string()));
}

}  // namespace
}  // namespace crisp::test
