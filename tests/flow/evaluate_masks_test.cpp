// Masks against truth: what is matched, read and scored, and what bad input is told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/flow/evaluate_masks.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/image/encode.h"
#include "tests/support/support.h"

namespace crisp::flow {
namespace {

using test::error_of;

using Unlabelled = MaskOptions::Unlabelled;

#define EXPECT_SAYS(said, part) EXPECT_NE(said.find(part), std::string::npos) << said

class EvaluateMasks : public testing::Test {
 protected:
  // A mask of 10 x 10, the first `ones` pixels labelled `label`.
  void put(const std::string& name, int ones, uint8_t label = 1, int width = 10, int height = 10) const {
    image::Mask mask(width, height);
    std::fill_n(mask.labels.begin(), ones, label);
    make_folder(path(name).parent_path());
    image::write_mask_png(path(name), mask);
  }
  Path path(const std::string& name) const { return folder_.path() / name; }
  Truth truth(const std::string& list = "") const {
    return truth_from_folder(path("truth"), {"background", "cat", "dog"},
                             list.empty() ? std::nullopt : std::optional<Path>(path(list)), {});
  }
  MaskOptions options() const {
    MaskOptions made;
    made.predictions = path("pred");
    made.metric.bootstrap_draws = 20;
    made.threads = 2;
    return made;
  }
  Evaluation evaluate() const { return evaluate_masks(truth(), options()); }
  double miou(const Evaluation& evaluation) const { return *evaluation.scores.finish(1).miou; }

  TemporaryFolder folder_;
};

TEST_F(EvaluateMasks, ScoresByHand) {
  put("truth/a.png", 50);
  put("pred/a.png", 25);
  // background: 50 of 75; cat: 25 of 50.
  EXPECT_NEAR(miou(evaluate()), 100 * (50.0 / 75 + 0.5) / 2, 1e-9);
  put("truth/b.png", 50);
  put("pred/b.png", 50);
  EXPECT_NEAR(miou(evaluate()), 100 * (100.0 / 125 + 75.0 / 100) / 2, 1e-9);
}

TEST_F(EvaluateMasks, FindsPredictionsInOtherFoldersAndIgnoresStrangers) {
  put("truth/x/a.png", 50);
  put("truth/x/b.png", 50);
  put("pred/other/a.PNG", 50);
  put("pred/b.png", 50);
  put("pred/stranger.png", 3);
  const Evaluation evaluation = evaluate();
  EXPECT_EQ(evaluation.scores.images().size(), 2u);
  EXPECT_EQ(miou(evaluation), 100);
}

TEST_F(EvaluateMasks, ASplitChoosesImages) {
  for (const char* name : {"a", "b", "c"}) {
    put(std::string("truth/") + name + ".png", 50);
    put(std::string("pred/") + name + ".png", 50);
  }
  write_atomic(path("list.txt"), "c\na\n");
  EXPECT_EQ(evaluate_masks(truth("list.txt"), options()).scores.images().size(), 2u);
  write_atomic(path("list.txt"), "\n\n");
  EXPECT_SAYS(error_of([&] { truth("list.txt"); }), "list.txt: the list is empty");
  write_atomic(path("list.txt"), "a\nnowhere\n");
  EXPECT_SAYS(error_of([&] { truth("list.txt"); }), "nowhere");
  write_atomic(path("list.txt"), "a\nb\na.png\n");
  EXPECT_SAYS(error_of([&] { truth("list.txt"); }), "'a.png' is listed twice");
}

TEST_F(EvaluateMasks, MissingPredictionsAreNamedOrBackground) {
  for (const char* name : {"a", "b", "c"}) put(std::string("truth/") + name + ".png", 50);
  put("pred/b.png", 50);
  const std::string said = error_of([&] { evaluate(); });
  EXPECT_SAYS(said, "2 of 3 predictions are missing: a, c");
  EXPECT_SAYS(said, "--missing background");
  MaskOptions lenient = options();
  lenient.missing_background = true;
  const Evaluation evaluation = evaluate_masks(truth(), lenient);
  EXPECT_NEAR(miou(evaluation), 100 * (150.0 / 250 + 50.0 / 150) / 2, 1e-9);
  ASSERT_EQ(evaluation.notes.size(), 1u);
  EXPECT_SAYS(evaluation.notes[0], "missing: 2 of 3");
  std::filesystem::rename(path("pred/b.png"), path("pred/z.png"));
  EXPECT_SAYS(error_of([&] { evaluate(); }), "none of its 1 mask(s) has the name of a truth mask (such as 'a')");
}

TEST_F(EvaluateMasks, OtherSizesAreRefusedOrResized) {
  put("truth/a.png", 80, 1, 20, 10);
  put("pred/a.png", 20, 1, 10, 5);  // the same at half size
  const std::string said = error_of([&] { evaluate(); });
  EXPECT_SAYS(said, "pred/a.png: the prediction is 10x5");
  EXPECT_SAYS(said, "truth/a.png is 20x10");
  EXPECT_SAYS(said, "--resize-pred nearest");
  MaskOptions lenient = options();
  lenient.resize_nearest = true;
  const Evaluation evaluation = evaluate_masks(truth(), lenient);
  EXPECT_EQ(miou(evaluation), 100);
  EXPECT_SAYS(evaluation.notes.at(0), "resized: 1 of 1");
}

TEST_F(EvaluateMasks, LabelsOutsideTheClassesAreNamed) {
  put("truth/a.png", 7, 9);
  put("pred/a.png", 5);
  EXPECT_SAYS(error_of([&] { evaluate(); }), "a: the truth has label 9 at x=0 y=0, but there are 3 classes (0 to 2)");
  EXPECT_SAYS(error_of([&] { evaluate(); }), "truth/a.png");
  put("truth/a.png", 5);
  put("pred/a.png", 7, 3);
  EXPECT_SAYS(error_of([&] { evaluate(); }), "a: the prediction has label 3 at x=0 y=0");
  EXPECT_SAYS(error_of([&] { evaluate(); }), "pred/a.png");
}

TEST_F(EvaluateMasks, ColourImagesNeedAPalette) {
  put("truth/a.png", 50);
  image::Image colours(10, 10);
  for (size_t i = 0; i < 50; ++i) colours.rgb[3 * i] = 128;  // VOC's dark red: class 1
  make_folder(path("pred"));
  image::write_rgb_png(path("pred/a.png"), colours);
  EXPECT_SAYS(error_of([&] { evaluate(); }), "pred/a.png: an RGB image where a mask is due");
  MaskOptions coloured = options();
  coloured.reading.rgb_palette = &image::voc_palette();
  EXPECT_EQ(miou(evaluate_masks(truth(), coloured)), 100);
  colours.rgb[1] = 77;
  image::write_rgb_png(path("pred/a.png"), colours);
  EXPECT_SAYS(error_of([&] { evaluate_masks(truth(), coloured); }), "pred/a.png");
}

TEST_F(EvaluateMasks, NamesThatOccurTwiceAreRefused) {
  put("truth/a.png", 50);
  put("truth/a.PNG", 50);
  put("pred/a.png", 50);
  EXPECT_SAYS(error_of([&] { evaluate(); }), "two masks of one name");
  std::filesystem::remove(path("truth/a.PNG"));
  put("pred/x/a.png", 50);
  put("pred/y/a.png", 50);
  std::filesystem::remove(path("pred/a.png"));
  EXPECT_SAYS(error_of([&] { evaluate(); }), "'a' fits several masks");
}

TEST_F(EvaluateMasks, IgnoredSeedsCountBothWays) {
  // Truth: 50 cat, 50 background. Seeds: 20 cat, 40 ignored (30 of them cat), the rest background.
  put("truth/a.png", 50);
  image::Mask seed(10, 10);
  std::fill_n(seed.labels.begin(), 20, uint8_t{1});
  std::fill_n(seed.labels.begin() + 20, 40, uint8_t{255});
  make_folder(path("pred/labels"));
  image::write_mask_png(path("pred/labels/a.png"), seed);
  write_atomic(path("pred/seeds.json"), "{}");
  const Evaluation evaluation = evaluate();
  ASSERT_TRUE(evaluation.left_out);
  EXPECT_NEAR(miou(evaluation), 100 * (20.0 / 50 + 50.0 / 80) / 2, 1e-9) << "as background";
  EXPECT_EQ(*evaluation.left_out->finish(1).miou, 100) << "left out: all that is labelled is right";
  EXPECT_EQ(evaluation.ignored_pixels, 40);

  MaskOptions strict = options();
  strict.unlabelled = Unlabelled::kMiss;
  const Evaluation missed = evaluate_masks(truth(), strict);
  EXPECT_FALSE(missed.left_out);
  EXPECT_NEAR(miou(missed), 100 * (20.0 / 50 + 40.0 / 50) / 2, 1e-9) << "a miss, never background";

  const FinishedEvaluation finished = finish(evaluation, 1);
  const nlohmann::json json = nlohmann::json::parse(finished.json);
  EXPECT_EQ(json.at("ignored_left_out").at("miou"), 100);
  EXPECT_EQ(json.at("ignored_left_out").at("ignored_percent"), 40);
  EXPECT_EQ(json.at("ignored_left_out").count("boundary_f1"), 0u);
  int said = 0;
  for (const std::string& line : finished.metrics.protocol) said += line.starts_with("unlabelled:");
  EXPECT_EQ(said, 1) << "the note takes the place of the general line";
}

TEST_F(EvaluateMasks, InstancesOfCocoAreATruth) {
  write_atomic(path("instances.json"),
               R"({"images": [{"id": 7, "file_name": "one.jpg", "width": 10, "height": 10}],
                   "categories": [{"id": 5, "name": "cup"}, {"id": 90, "name": "fork"}],
                   "annotations": [{"id": 1, "image_id": 7, "category_id": 90, "iscrowd": 0, "area": 50,
                                    "segmentation": [[0, 0, 10, 0, 10, 5, 0, 5]]}]})");
  put("pred/one.png", 50, 2);
  const Truth coco = truth_from_instances(path("instances.json"), std::nullopt, std::nullopt, {});
  EXPECT_EQ(coco.classes, (ClassNames{"background", "cup", "fork"}));
  const Evaluation evaluation = evaluate_masks(coco, options());
  EXPECT_EQ(miou(evaluation), 100);
  EXPECT_SAYS(evaluation.notes.at(0), "rasterised from COCO");
  EXPECT_SAYS(error_of([&] { truth_from_instances(path("instances.json"), ClassNames{"a", "b"}, std::nullopt, {}); }),
              "2 categories and the background, but --classes gives 2 classes");
}

TEST_F(EvaluateMasks, PhotosAreFoundForTheReport) {
  put("truth/a.png", 50);
  put("pred/a.png", 25);
  make_folder(path("photos/sub"));
  image::write_jpeg(path("photos/sub/a.jpg"), image::Image(10, 10));
  Truth with_photos = truth();
  add_photos(with_photos, path("photos"));
  const Evaluation evaluation = evaluate_masks(with_photos, options());
  ASSERT_EQ(evaluation.examples.best.size(), 1u);
  EXPECT_EQ(evaluation.examples.best[0].photo.width, 10);
  std::filesystem::rename(path("photos/sub/a.jpg"), path("photos/sub/z.jpg"));
  EXPECT_SAYS(error_of([&] { add_photos(with_photos, path("photos")); }), "none of its 1 photo(s)");
}

TEST_F(EvaluateMasks, TheFolderIsWholeAndComparesWithItself) {
  for (int i = 0; i < 6; ++i) {
    put("truth/" + std::to_string(i) + ".png", 50);
    put("pred/" + std::to_string(i) + ".png", 20 + 5 * i);
  }
  const Evaluation evaluation = evaluate();
  const FinishedEvaluation finished = finish(evaluation, 2);
  write_evaluation(evaluation, finished, path("out"), {"title", "command", "a = 1\n"});
  for (const char* name : {"metrics.json", "per_class.csv", "per_image.csv", "confusion.csv", "scores.json",
                           "report.html", "config.toml"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(path("out") / name)) << name;
  }
  const nlohmann::json json = nlohmann::json::parse(read_text(path("out/metrics.json")));
  for (const char* key :
       {"miou", "mdice", "pixel_accuracy", "mean_accuracy", "boundary_f1", "boundary_iou", "ece", "small_object_recall",
        "tv_smoothness", "compactness", "edge_regularity", "ci95", "per_class", "images", "skipped", "protocol"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_TRUE(json.at("ece").is_null()) << "masks carry no confidence";
  EXPECT_EQ(json.at("per_class").size(), 3u);
  EXPECT_TRUE(json.at("per_class")[2].at("iou").is_null()) << "no dog in the truth";
  EXPECT_EQ(json.at("miou").get<double>(), *finished.metrics.miou);

  const StoredEvaluation stored = read_evaluation(path("out"));
  EXPECT_EQ(stored.classes, evaluation.classes);
  EXPECT_EQ(stored.scores.finish(1), evaluation.scores.finish(1));
  const metric::Comparison same = compare_stored(stored, stored, 1);
  EXPECT_EQ(same.numbers.at(0).difference, 0);
  StoredEvaluation renamed = stored;
  renamed.classes[1] = "lion";
  EXPECT_SAYS(error_of([&] { compare_stored(stored, renamed, 1); }),
              "1 is 'cat' in the first and 'lion' in the second");
  EXPECT_SAYS(error_of([&] { read_evaluation(path("truth")); }), "must be an output folder of `crispformer eval`");
  write_atomic(path("out/metrics.json"), "{}");
  EXPECT_SAYS(error_of([&] { read_evaluation(path("out")); }), "out/metrics.json: not the metrics of an evaluation");
}

}  // namespace
}  // namespace crisp::flow
