// eval, compare, check and synth as users meet them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "tests/metric/cases.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Scenes made once for all tests of this file: 12 photos with masks of 4 classes.
class Eval : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scenes_ = std::make_unique<TemporaryFolder>();
    const ProgramResult made =
        run_program("synth --out " + quote(data().string()) + " --images 12 --size 96 --classes 4 --seed 3 --quiet");
    ASSERT_EQ(made.status, 0) << made.err;
    ASSERT_TRUE(contains(made.out, "12 images")) << made.out;
  }
  static void TearDownTestSuite() { scenes_.reset(); }

  static Path data() { return scenes_->path() / "scenes"; }
  Path path(const std::string& name) const { return folder_.path() / name; }
  std::string at(const std::string& name) const { return quote(path(name).string()); }

  // Predictions: the truth, with every `spoilt`-th column of pixels lost to the background.
  void predict(const std::string& name, int spoilt) const {
    make_folder(path(name));
    for (const Path& file : list_files(data() / "masks", {".png"})) {
      image::Mask mask = image::read_mask(file);
      for (size_t i = 0; i < mask.labels.size(); ++i) {
        if (static_cast<int>(i) % mask.width % spoilt == 0) mask.labels[i] = 0;
      }
      image::write_mask_png(path(name) / file.filename(), mask);
    }
  }
  std::string truth() const { return " --data " + quote(data().string()) + " --split all"; }
  ProgramResult eval(const std::string& arguments) const { return run_program("eval " + arguments + " --threads 2"); }
  json metrics(const std::string& name) const { return json::parse(read_text(path(name) / "metrics.json")); }

  inline static std::unique_ptr<TemporaryFolder> scenes_;
  TemporaryFolder folder_;
};

TEST_F(Eval, MasksAgainstADataSet) {
  predict("pred", 7);
  const ProgramResult result = eval("--pred " + at("pred") + truth() + " --out " + at("out"));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "miou")) << result.out;
  EXPECT_TRUE(contains(result.out, "12 images"));
  EXPECT_TRUE(contains(result.err, "report.html"));
  const json numbers = metrics("out");
  EXPECT_EQ(numbers["images"], 12);
  EXPECT_GT(numbers["miou"].get<double>(), 80);
  EXPECT_LT(numbers["miou"].get<double>(), 95);
  EXPECT_EQ(numbers["ci95"]["miou"].size(), 2u);
  const std::string page = read_text(path("out/report.html"));
  EXPECT_TRUE(contains(page, "crispformer eval --pred"));
  EXPECT_TRUE(contains(page, "data:image/jpeg;base64,"));
  EXPECT_FALSE(contains(page, "http"));
}

TEST_F(Eval, FolderAndListGiveTheSameAndTheConfigurationRunsAgain) {
  predict("pred", 5);
  ASSERT_EQ(eval("--pred " + at("pred") + truth() + " --out " + at("one")).status, 0);
  std::string list;
  for (const Path& file : list_files(data() / "masks", {".png"})) list += file.stem().string() + "\n";
  write_atomic(path("list.txt"), list);
  const ProgramResult folder = eval("--pred " + at("pred") + " --truth " + quote((data() / "masks").string()) +
                                    " --classes " + quote((data() / "classes.txt").string()) + " --split " +
                                    at("list.txt") + " --out " + at("two") + " --json --quiet");
  ASSERT_EQ(folder.status, 0) << folder.err;
  EXPECT_EQ(folder.err, "");
  EXPECT_EQ(folder.out, read_text(path("two/metrics.json")));
  EXPECT_EQ(metrics("one")["miou"], metrics("two")["miou"]);
  EXPECT_EQ(read_text(path("one/per_class.csv")), read_text(path("two/per_class.csv")));
  const std::string first = read_text(path("two/metrics.json"));
  const ProgramResult again = run_program("eval --config " + at("two/config.toml"));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(read_text(path("two/metrics.json")), first);
}

TEST_F(Eval, OnlyWhatIsAskedFor) {
  predict("pred", 5);
  ASSERT_EQ(eval("--pred " + at("pred") + truth() + " --out " + at("out") + " --only miou --bootstrap 0").status, 0);
  const json numbers = metrics("out");
  EXPECT_TRUE(numbers["boundary_f1"].is_null());
  EXPECT_TRUE(numbers["compactness"].is_null());
  EXPECT_TRUE(numbers["ci95"].empty());
  EXPECT_FALSE(numbers["miou"].is_null());
}

TEST_F(Eval, AModelIsMeasured) {
  // The tiny hub model has 5 classes: scenes of as many.
  ASSERT_EQ(run_program("synth --out " + at("five") + " --images 3 --size 64 --classes 5 --quiet").status, 0);
  const std::string call = "--model tests/goldens/model/hub --data " + at("five") + " --split all --out " + at("out");
  const ProgramResult result = eval(call + " --save mask");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "class name(s) differ")) << result.err;
  const json numbers = metrics("out");
  EXPECT_EQ(numbers["images"], 3);
  EXPECT_TRUE(numbers["ece"].is_number());
  EXPECT_EQ(numbers["reliability"].size(), 15u);
  EXPECT_EQ(list_files(path("out/mask"), {".png"}).size(), 3u);
  EXPECT_TRUE(contains(read_text(path("out/report.html")), "uncertainty"));
  ASSERT_EQ(eval(call + " --scales 0.5,1 --flip --only miou").status, 0);
  EXPECT_TRUE(metrics("out")["ece"].is_null());
  EXPECT_TRUE(contains(metrics("out")["protocol"].dump(), "scales 0.5, 1 with flips"));
  const ProgramResult wrong = eval("--model tests/goldens/model/hub" + truth() + " --out " + at("out"));
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(contains(wrong.err, "the model has 5 classes") && contains(wrong.err, "the truth has 4")) << wrong.err;
}

TEST_F(Eval, SeedsArePrintedBothWays) {
  predict("seeds/labels", 4);
  for (const Path& file : list_files(path("seeds/labels"), {".png"})) {
    image::Mask mask = image::read_mask(file);
    std::fill_n(mask.labels.begin(), mask.labels.size() / 3, image::kIgnore);
    image::write_mask_png(file, mask);
  }
  write_atomic(path("seeds/seeds.json"), "{}");
  const ProgramResult result = eval("--pred " + at("seeds") + truth() + " --out " + at("out"));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "ignored left out")) << result.out;
  const json numbers = metrics("out");
  EXPECT_NEAR(numbers["ignored_left_out"]["ignored_percent"].get<double>(), 33.3, 0.1);
  EXPECT_NE(numbers["ignored_left_out"]["miou"], numbers["miou"]);
  EXPECT_TRUE(contains(read_text(path("out/report.html")), "Ignored seed pixels"));
}

TEST_F(Eval, MistakesAreNamed) {
  predict("pred", 5);
  const std::string pred = "--pred " + at("pred"), out = " --out " + at("out");
  const auto expect = [&](const std::string& arguments, int status, const std::string& part) {
    const ProgramResult result = eval(arguments);
    EXPECT_EQ(result.status, status) << arguments;
    EXPECT_TRUE(result.err.starts_with("error: ")) << result.err;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
    EXPECT_EQ(result.out, "") << arguments;
  };
  const std::string masks = " --truth " + quote((data() / "masks").string());
  expect(truth() + out, 2, "--pred MASKS or --model");
  expect(pred + out, 2, "--truth MASKS, --data DATA, --instances FILE");
  expect(pred + masks + out, 2, "--truth needs --classes");
  expect(pred + truth() + out + " --resize-pred bilinear", 2, "error, nearest");
  expect(pred + truth() + out + " --only iou", 2, "--only iou");
  expect(pred + truth() + out + " --palette ade20k", 2, "none, voc");
  expect(pred + truth() + out + " --ece-bins 0", 1, "ece_bins");
  expect(pred + " --data " + quote(data().string()) + " --split nowhere" + out, 1,
         "no split 'nowhere'; there are: train, val, all");
  expect(pred + masks + " --classes 2" + out, 1, "but there are 2 classes");
  write_atomic(path("classes.txt"), "background\ncat\n\ndog\n");
  expect(pred + masks + " --classes " + at("classes.txt") + out, 1, "classes.txt: line 3 is empty");
  write_atomic(path("classes.txt"), "background\ncat\ndog\ncat\n");
  expect(pred + masks + " --classes " + at("classes.txt") + out, 1, "'cat' stands on line 2 and again on line 4");
  expect("--pred " + at("nowhere") + truth() + out, 1, "nowhere: no such folder of masks");
  fs::remove(list_files(path("pred"), {".png"})[0]);
  expect(pred + truth() + out, 1, "1 of 12 predictions are missing");
  EXPECT_FALSE(fs::exists(path("out/metrics.json"))) << "nothing is written for a failed evaluation";
}

TEST_F(Eval, CompareFindsTheBetterOne) {
  predict("base", 4);
  predict("mine", 9);
  ASSERT_EQ(eval("--pred " + at("base") + truth() + " --out " + at("a")).status, 0);
  ASSERT_EQ(eval("--pred " + at("mine") + truth() + " --out " + at("b")).status, 0);
  const ProgramResult result = run_program("compare " + at("a") + " " + at("b") + " --json --out " + at("ab"));
  ASSERT_EQ(result.status, 0) << result.err;
  const json comparison = json::parse(result.out);
  EXPECT_EQ(comparison["images"], 12);
  const json miou = comparison["numbers"]["miou"];
  EXPECT_NEAR(miou["difference"].get<double>(), metrics("b")["miou"].get<double>() - metrics("a")["miou"].get<double>(),
              1e-9);
  EXPECT_GT(miou["ci95"][0].get<double>(), 0);
  EXPECT_LT(miou["p_value"].get<double>(), 0.01);
  EXPECT_EQ(read_text(path("ab/comparison.json")), result.out);
  EXPECT_TRUE(contains(read_text(path("ab/report.html")), "Images that changed most"));
  EXPECT_TRUE(contains(run_program("compare " + at("a") + " " + at("b")).out, "images that changed most"));

  write_atomic(path("list.txt"), read_text(data() / "splits/train.txt"));
  ASSERT_EQ(
      eval("--pred " + at("base") + " --data " + quote(data().string()) + " --split train --out " + at("c")).status, 0);
  const ProgramResult other = run_program("compare " + at("a") + " " + at("c"));
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.err, "not of the same images; only in the first:")) << other.err;
  EXPECT_TRUE(contains(run_program("compare " + at("a") + " " + at("nowhere")).err, "must be an output folder"));
}

TEST_F(Eval, CheckSaysWhatIsWrong) {
  const ProgramResult good = run_program("check --data " + quote(data().string()));
  EXPECT_EQ(good.status, 0) << good.out;
  EXPECT_TRUE(contains(good.out, "12")) << good.out;
  fs::copy(data(), path("bad"), fs::copy_options::recursive);
  const Path broken = list_files(path("bad/images"), {".jpg"})[0];
  write_atomic(broken, "no picture");
  const ProgramResult bad = run_program("check --data " + at("bad"));
  EXPECT_EQ(bad.status, 1);
  EXPECT_TRUE(contains(bad.out, broken.filename().string())) << bad.out;
  const json report = json::parse(run_program("check --json --data " + at("bad")).out);
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["images"], 12);
  EXPECT_EQ(run_program("check --data " + at("nowhere")).status, 1);
}

TEST_F(Eval, SynthIsTheSameAgainAndRefusesOthers) {
  const std::string call = "synth --images 12 --size 96 --seed 3 --quiet --out ";
  ASSERT_EQ(run_program(call + at("again") + " --classes 4").status, 0);
  for (const Path& file : list_files(data(), {})) {
    EXPECT_EQ(read_text(file), read_text(path("again") / file.lexically_relative(data()))) << file;
  }
  const ProgramResult other = run_program(call + at("again") + " --classes 5");
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.err, "other options")) << other.err;
  EXPECT_EQ(run_program(call + at("new") + " --classes 1").status, 2);
}

TEST_F(Eval, RealMasksGiveTheReferencesNumbers) {
  CRISP_NEEDS_SHARED();
  const json golden_numbers = json::parse(read_text(golden("goldens/metric/voc.json")));
  const std::vector<std::string> names = golden_numbers.at("names");
  std::string line =
      "tar xf " + quote((shared_folder() / "data/voc12-core.tar").string()) + " -C " + quote(folder_.path().string());
  std::string list;
  for (const std::string& name : names) {
    line += " VOC2012/SegmentationClass/" + name + ".png";
    list += name + "\n";
  }
  ASSERT_EQ(run_shell(line).status, 0);
  write_atomic(path("list.txt"), list);
  make_folder(path("pred"));
  for (size_t i = 0; i < names.size(); ++i) {
    const image::Mask mask = image::read_mask(path("VOC2012/SegmentationClass/" + names[i] + ".png"));
    image::write_mask_png(path("pred/" + names[i] + ".png"), perturb(mask, static_cast<int>(i)));
  }
  const ProgramResult result = eval("--pred " + at("pred") + " --truth " + at("VOC2012/SegmentationClass") +
                                    " --classes voc --split " + at("list.txt") + " --out " + at("out"));
  ASSERT_EQ(result.status, 0) << result.err;
  const json numbers = metrics("out"), expected = golden_numbers.at("expected");
  EXPECT_EQ(numbers["images"], names.size());
  int compared = 0;
  for (const char* name : {"miou", "mdice", "pixel_accuracy", "mean_accuracy", "boundary_f1", "boundary_iou",
                           "small_object_recall", "tv_smoothness", "compactness", "edge_regularity"}) {
    if (!expected.contains(name)) continue;
    EXPECT_NEAR(numbers[name].get<double>(), expected[name].get<double>(), 1e-6) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 10);
}

}  // namespace
}  // namespace crisp::test
