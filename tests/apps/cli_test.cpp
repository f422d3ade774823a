// The commands as users meet them: exit status, what goes to stdout and stderr, what lands on disk.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string kHub = "tests/goldens/model/hub";  // a tiny SegFormer of 5 classes

image::Image photo(int width, int height) {
  image::Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.row(y)[3 * x] = static_cast<uint8_t>(x * 5);
      image.row(y)[3 * x + 1] = static_cast<uint8_t>(y * 3);
      image.row(y)[3 * x + 2] = static_cast<uint8_t>((x / 8 + y / 8) % 2 * 200);
    }
  }
  return image;
}

class Predict : public testing::Test {
 protected:
  ProgramResult predict(const std::string& arguments) const {
    return run_program("predict --model " + kHub + " --threads 1 --out " + quote(out().string()) + " " + arguments);
  }
  Path out() const { return folder_.path() / "out"; }
  Path add(const std::string& name, int width = 40, int height = 30) const {
    const Path file = folder_.path() / "in" / name;
    make_folder(file.parent_path());
    if (file.extension() == ".png") {
      image::write_rgb_png(file, photo(width, height));
    } else {
      image::write_jpeg(file, photo(width, height));
    }
    return file;
  }
  std::string in() const { return quote((folder_.path() / "in").string()); }
  json predictions() const { return json::parse(read_text(out() / "predictions.json")); }

  TemporaryFolder folder_;
};

TEST(Program, HelpVersionAndMistakes) {
  EXPECT_EQ(run_program("--help").status, 0);
  EXPECT_TRUE(contains(run_program("--help").out, "predict"));
  EXPECT_EQ(run_program("").status, 2);
  const ProgramResult unknown = run_program("frobnicate");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(unknown.err.starts_with("error: ")) << unknown.err;
  for (const char* command : {"info", "predict", "bench"}) {
    const ProgramResult help = run_program(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(contains(help.out, "Examples:")) << command;
    const ProgramResult wrong = run_program(std::string(command) + " --no-such-option");
    EXPECT_EQ(wrong.status, 2) << command;
    EXPECT_TRUE(wrong.err.starts_with("error: ")) << wrong.err;
    EXPECT_EQ(wrong.out, "");
  }
}

TEST(Info, CountsWhatTheMethodSays) {
  const ProgramResult result =
      run_program("info --arch mit_b5 --head segformer --width 256 --classes 21 --size 512 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const json facts = json::parse(result.out);
  EXPECT_EQ(facts["parameters"], 81974229);
  EXPECT_EQ(facts["encoder"]["parameters"], 81443008);
  EXPECT_NEAR(facts["encoder"]["gmac"].get<double>(), 69.41, 0.005);
  EXPECT_EQ(run_program("info --arch mit_b9").status, 2);
  EXPECT_TRUE(contains(run_program("info --arch mit_b9").err, "mit_b0, mit_b1"));
  EXPECT_EQ(json::parse(run_program("info --json").out)["threads"].is_number(), true);
}

TEST(Info, TellsWhatAFileIs) {
  for (const std::string arch : {"mit_b0", "mit_b1"}) {
    const json facts = json::parse(run_program("info weights/" + arch + ".safetensors --json").out);
    EXPECT_EQ(facts["arch"], arch);
    EXPECT_EQ(facts["head"], "none");
  }
  EXPECT_TRUE(contains(run_program("info " + kHub).out, "segformer"));
  const ProgramResult missing = run_program("info nowhere.safetensors");
  EXPECT_EQ(missing.status, 1);
  EXPECT_TRUE(contains(missing.err, "nowhere.safetensors"));
}

TEST(Info, ReadsItsOptionsFromAFileAndRefusesUnknownKeys) {
  const TemporaryFolder folder;
  const Path config = folder.path() / "info.toml";
  write_atomic(config, "arch = \"mit_b0\"\nhead = \"segformer\"\njson = true\n");
  EXPECT_EQ(json::parse(run_program("info --config " + quote(config.string())).out)["parameters"], 3719541);
  write_atomic(config, "arch = \"mit_b0\"\ncolour = \"red\"\n");
  const ProgramResult unknown = run_program("info --config " + quote(config.string()));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(contains(unknown.err, "colour")) << unknown.err;
}

TEST(Bench, PrintsFiguresForMachines) {
  const ProgramResult result =
      run_program("bench --arch mit_b0 --size 64 --iterations 1 --warmup 0 --threads 1 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const json facts = json::parse(result.out);
  EXPECT_GT(facts["network"]["median_ms"].get<double>(), 0);
  EXPECT_GT(facts["end_to_end"]["images_per_s"].get<double>(), 0);
  EXPECT_GT(facts["peak_memory_mb"].get<double>(), 0);
}

TEST(Bench, TimesAnEncoderAlone) {
  const auto facts_of = [](const std::string& options) {
    const ProgramResult result =
        run_program("bench --encoder-only --iterations 1 --warmup 0 --threads 1 --json " + options);
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out);
  };
  for (const std::string dtype : {"f32", "bf16"}) {
    const json facts = facts_of("--arch vit_s14 --size 28 --dtype " + dtype);
    EXPECT_EQ(facts["what"], "encoder");
    EXPECT_EQ(facts["parameters"], 22056192);
    EXPECT_TRUE(facts["dtype"] == dtype || facts["dtype"] == "f32") << facts["dtype"];  // not all processors have bf16
    EXPECT_GT(facts["network"]["median_ms"].get<double>(), 0);
    EXPECT_TRUE(facts["end_to_end"].is_null());
  }
  EXPECT_EQ(facts_of("--arch mit_b0 --size 32")["parameters"], 3319392);
  const ProgramResult half = run_program("bench --arch vit_s14 --encoder-only --dtype fp16 --device cpu");
  EXPECT_EQ(half.status, 2);
  EXPECT_TRUE(contains(half.err, "f32 or bf16")) << half.err;
}

TEST(Bench, RunsAWholeNetworkOnAFrozenVit) {
  const ProgramResult result =
      run_program("bench --arch vit_s14 --width 16 --iterations 1 --warmup 0 --threads 1 --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const json facts = json::parse(result.out);
  EXPECT_EQ(facts["size"], 448);
  EXPECT_GT(facts["end_to_end"]["median_ms"].get<double>(), 0);
}

TEST_F(Predict, WritesEveryOutputAsked) {
  add("a.jpg", 42, 31);
  const ProgramResult result = predict(in() + " --save mask,overlay,uncertainty,logits");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "a  "));
  const image::Mask mask = image::read_mask(out() / "mask/a.png");
  EXPECT_EQ(mask.width, 42);
  EXPECT_EQ(mask.height, 31);
  for (const uint8_t label : mask.labels) ASSERT_LT(label, 5);
  EXPECT_EQ(image::read_image(out() / "uncertainty/a.png").height, 31);
  EXPECT_GE(image::read_image(out() / "overlay/a.png").height, 31);
  const std::string npy = read_text(out() / "logits/a.npy");
  EXPECT_TRUE(contains(npy.substr(0, 128), "(5, 8, 11)")) << npy.substr(0, 128);
  EXPECT_TRUE(fs::exists(out() / "config.toml"));
  const json report = predictions();
  EXPECT_EQ(report["images"][0]["width"], 42);
  double sum = 0;
  for (const auto& [name, share] : report["images"][0]["shares"].items()) sum += share.get<double>();
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST_F(Predict, MultiScaleWritesProbabilitiesAtFullSize) {
  add("a.png", 42, 31);
  ASSERT_EQ(predict(in() + " --save logits --scales 0.5,1 --flip").status, 0);
  EXPECT_TRUE(contains(read_text(out() / "logits/a.npy").substr(0, 128), "(5, 31, 42)"));
}

TEST_F(Predict, TheSameConfigurationCanBeRunAgain) {
  add("a.jpg");
  ASSERT_EQ(predict(in() + " --save mask --batch 2").status, 0);
  const std::string first = read_text(out() / "mask/a.png");
  const ProgramResult again = run_program("predict --config " + quote((out() / "config.toml").string()));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(read_text(out() / "mask/a.png"), first);
}

TEST_F(Predict, BrokenFilesAreSkippedCountedAndListed) {
  add("good.jpg");
  write_atomic(folder_.path() / "in/empty.jpg", "");
  write_atomic(folder_.path() / "in/text.png", "this is no picture");
  const std::string jpeg = image::encode_jpeg(photo(80, 60));
  write_atomic(folder_.path() / "in/cut.jpg", jpeg.substr(0, jpeg.size() / 2));
  const ProgramResult result = predict(in());
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.err, "3 of 4 images")) << result.err;
  for (const char* name : {"empty.jpg", "text.png", "cut.jpg"}) EXPECT_TRUE(contains(result.err, name)) << name;
  EXPECT_TRUE(fs::exists(out() / "mask/good.png"));
  EXPECT_EQ(predictions()["skipped"].size(), 3u);
  EXPECT_EQ(predictions()["images"].size(), 1u);
}

TEST_F(Predict, LargePicturesAreRefusedByTheLimit) {
  add("big.png", 200, 100);
  const ProgramResult result = predict(in() + " --max-pixels 10000");
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.err, "--max-pixels")) << result.err;
}

TEST_F(Predict, SameNamesAreKeptApart) {
  add("one/a.jpg");
  add("two/a.jpg");
  add("two/a.png");
  const std::string base = (folder_.path() / "in").string();
  const ProgramResult result = predict(quote(base + "/one") + " " + quote(base + "/two") + " --save mask");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(predictions()["images"].size(), 3u);
  EXPECT_EQ(list_files(out() / "mask", {".png"}).size(), 3u);
}

TEST_F(Predict, SpacesAndForeignLettersInPaths) {
  add("zwölf Äpfel/größe 1.jpg");
  ASSERT_EQ(predict(in() + " --save mask").status, 0);
  EXPECT_TRUE(fs::exists(out() / "mask/zwölf Äpfel/größe 1.png"));
}

TEST_F(Predict, TinyAndThinPictures) {
  add("dot.png", 1, 1);
  add("thin.png", 1, 4000);
  ASSERT_EQ(predict(in() + " --save mask,uncertainty").status, 0);
  EXPECT_EQ(image::read_mask(out() / "mask/thin.png").height, 4000);
  EXPECT_EQ(image::read_mask(out() / "mask/dot.png").labels.size(), 1u);
}

TEST_F(Predict, MistakesAreNamed) {
  const Path file = add("a.jpg");
  EXPECT_EQ(predict(in() + " --tile 128 --overlap 128").status, 2);
  EXPECT_EQ(predict(in() + " --save masks").status, 2);
  EXPECT_EQ(predict(in() + " --device cuda:7").status, 2);
  EXPECT_EQ(predict(in() + " --save boundary").status, 2) << "this model has no boundary head";
  EXPECT_EQ(predict(quote((folder_.path() / "nowhere").string())).status, 1);
  make_folder(folder_.path() / "void");
  EXPECT_EQ(predict(quote((folder_.path() / "void").string())).status, 1);
  const ProgramResult encoder = run_program("predict " + quote(file.string()) + " --out " + quote(out().string()) +
                                            " --model weights/mit_b0.safetensors");
  EXPECT_EQ(encoder.status, 1);
  EXPECT_TRUE(contains(encoder.err, "without a segmentation head")) << encoder.err;
}

TEST_F(Predict, AnOutputThatCannotBeWrittenIsAnError) {
  add("a.png", 300, 300);
  write_atomic(folder_.path() / "file", "in the way");
  const ProgramResult blocked =
      run_program("predict --model " + kHub + " --out " + quote((folder_.path() / "file").string()) + " " + in());
  EXPECT_EQ(blocked.status, 1);
  EXPECT_TRUE(contains(blocked.err, "file")) << blocked.err;
  // A full disk: no file may grow beyond 8 blocks.
  const ProgramResult full = run_shell("trap '' XFSZ; ulimit -f 8; " + program() + " predict --model " + kHub +
                                       " --save overlay --out " + quote(out().string()) + " " + in());
  EXPECT_EQ(full.status, 1);
  EXPECT_TRUE(contains(full.err, "overlay/a.png: cannot write")) << full.err;
  EXPECT_TRUE(list_files(out() / "overlay", {}).empty()) << "nothing half-written is left";
}

TEST_F(Predict, ClassesCanBeRenamedButNotRecounted) {
  add("a.jpg");
  const Path names = folder_.path() / "names.txt";
  write_atomic(names, "background\nKatze\nTisch\nHund\nPflanze\n");
  const ProgramResult renamed = predict(in() + " --save mask --classes " + quote(names.string()));
  ASSERT_EQ(renamed.status, 0) << renamed.err;
  EXPECT_EQ(predictions()["classes"][1], "Katze");
  const ProgramResult wrong = predict(in() + " --classes voc");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(contains(wrong.err, "21 classes, but the model has 5")) << wrong.err;
}

TEST_F(Predict, WrongClassCountIsNamedWithBothShapes) {
  // A head for 5 classes in a folder whose config names 3.
  const Path hub = folder_.path() / "hub";
  fs::copy(golden("goldens/model/hub"), hub);
  json config = json::parse(read_text(hub / "config.json"));
  config["id2label"] = {{"0", "background"}, {"1", "cat"}, {"2", "dog"}};
  config["label2id"] = {{"background", 0}, {"cat", 1}, {"dog", 2}};
  write_atomic(hub / "config.json", config.dump());
  add("a.jpg");
  const ProgramResult result =
      run_program("predict --model " + quote(hub.string()) + " --out " + quote(out().string()) + " " + in());
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.err, "3") && contains(result.err, "5")) << result.err;
}

}  // namespace
}  // namespace crisp::test
