// A model against a data set.
#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "crisp/flow/evaluate_masks.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/image/encode.h"
#include "crisp/model/load.h"
#include "tests/support/support.h"

namespace crisp::flow {
namespace {

using test::error_of;

#define EXPECT_SAYS(said, part) EXPECT_NE(said.find(part), std::string::npos) << said

const ClassNames kClasses = {"background", "cat", "dining table", "dog", "potted plant"};  // of the tiny hub model

TEST(FullProbabilities, EqualTorchs) {
  torch::manual_seed(1);
  for (const auto& [h, w, height, width] :
       std::vector<std::array<int64_t, 4>>{{7, 9, 25, 33}, {1, 1, 3, 2}, {4, 4, 4, 4}, {8, 3, 32, 9}}) {
    const torch::Tensor logits = 8 * torch::randn({5, h, w});
    const torch::Tensor expected =
        torch::softmax(torch::upsample_bilinear2d(logits.unsqueeze(0), {height, width}, false)[0], 0).contiguous();
    const std::vector<float> got = full_probabilities(logits, height, width);
    ASSERT_EQ(static_cast<int64_t>(got.size()), expected.numel());
    const torch::Tensor difference =
        (torch::from_blob(const_cast<float*>(got.data()), {5, height, width}) - expected).abs();
    EXPECT_LE(difference.max().item<double>(), 2e-6);
  }
}

TEST(CheckClasses, CountOrderAndNames) {
  EXPECT_EQ(error_of([] { check_classes(kClasses, kClasses); }), "no error");
  EXPECT_SAYS(error_of([] { check_classes(kClasses, voc_classes()); }), "the model has 5 classes");
  EXPECT_SAYS(error_of([] { check_classes({"background", "cat", "dog"}, {"background", "dog", "cat"}); }),
              "'cat' is 1 for the model and 2 in the truth");
  EXPECT_EQ(error_of([] { check_classes({"background", "tv"}, {"background", "tvmonitor"}); }), "no error");
  EXPECT_EQ(error_of([] { check_classes({"background", "class 1"}, {"background", "cat"}); }), "no error");
}

class EvaluateModel : public testing::Test {
 protected:
  EvaluateModel() {
    for (int i = 0; i < 5; ++i) {
      const int width = i == 4 ? 33 : 40, height = 30;
      image::Image photo(width, height);
      image::Mask mask(width, height);
      Rng rng(5, static_cast<uint64_t>(i));
      for (uint8_t& value : photo.rgb) value = static_cast<uint8_t>(rng.below(256));
      for (uint8_t& label : mask.labels) label = static_cast<uint8_t>(rng.below(5));
      mask.labels[0] = 255;
      const std::string name = std::to_string(i);
      for (const char* folder : {"images", "masks"}) make_folder(path(folder));
      image::write_rgb_png(path("images/" + name + ".png"), photo);
      image::write_mask_png(path("masks/" + name + ".png"), mask);
    }
    write_atomic(path("classes.txt"), "background\ncat\ndining table\ndog\npotted plant\n");
  }
  Path path(const std::string& name) const { return folder_.path() / name; }
  Truth truth() const { return truth_from_dataset(data::open_dataset(folder_.path(), {.lenient = true}), "all"); }
  Evaluation evaluate(const infer::InferOptions& how, ModelOptions options = {}) const {
    options.metric.bootstrap_draws = 0;
    infer::Predictor predictor(model::load_segmenter(test::golden("goldens/model/hub")), torch::kCPU, torch::kFloat,
                               how);
    return evaluate_model(predictor, truth(), options);
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluateModel, TheSameAsItsSavedMasksAndBatchesDoNotMatter) {
  ModelOptions options;
  options.save = {"mask", "uncertainty"};
  options.out = path("out");
  const metric::Metrics numbers = evaluate({}, options).scores.finish(1);
  EXPECT_EQ(numbers.images, 5);
  ASSERT_TRUE(numbers.ece && numbers.brier && numbers.nll);
  EXPECT_GE(*numbers.ece, 0);
  EXPECT_LE(*numbers.ece, 100);
  EXPECT_GT(*numbers.nll, 0);
  EXPECT_TRUE(std::filesystem::exists(path("out/uncertainty/3.png")));

  MaskOptions masks;
  masks.predictions = path("out/mask");
  masks.metric.bootstrap_draws = 0;
  metric::Metrics of_masks = evaluate_masks(truth(), masks).scores.finish(1);
  EXPECT_EQ(of_masks.miou, numbers.miou);
  EXPECT_EQ(of_masks.confusion, numbers.confusion);
  EXPECT_EQ(of_masks.boundary_f1, numbers.boundary_f1);

  ModelOptions batched;
  batched.batch = 3;
  batched.workers = 1;
  const metric::Metrics again = evaluate({}, batched).scores.finish(1);
  EXPECT_EQ(again.confusion, numbers.confusion);
  EXPECT_NEAR(*again.nll, *numbers.nll, 1e-5);
}

TEST_F(EvaluateModel, SeveralScalesAndNoCertainty) {
  const metric::Metrics several = evaluate({.scales = {0.75, 1.25}, .flip = true}).scores.finish(1);
  ASSERT_TRUE(several.brier);
  EXPECT_LE(*several.brier, 2);
  ModelOptions plain;
  plain.certainty = false;
  EXPECT_FALSE(evaluate({}, plain).scores.finish(1).ece);
}

TEST_F(EvaluateModel, ExamplesHaveEveryPart) {
  const report::Examples examples = evaluate({}).examples;
  ASSERT_EQ(examples.best.size(), 4u);
  ASSERT_EQ(examples.worst.size(), 1u);
  EXPECT_EQ(examples.worst[0].photo.height, 30);
  EXPECT_EQ(examples.worst[0].uncertainty.height, 30);
}

TEST_F(EvaluateModel, BrokenPhotosAreSkippedAndThoseWithoutMaskListed) {
  write_atomic(path("images/2.png"), "no picture");
  std::filesystem::remove(path("masks/1.png"));
  const Evaluation evaluation = evaluate({});
  EXPECT_EQ(evaluation.scores.images().size(), 3u);
  ASSERT_EQ(evaluation.skipped.size(), 2u);
  EXPECT_EQ(evaluation.skipped[0].name, "1");
  EXPECT_SAYS(evaluation.skipped[1].reason, "2.png");
}

TEST_F(EvaluateModel, AMaskOfAnotherSizeIsNamed) {
  image::write_mask_png(path("masks/0.png"), image::Mask(8, 8));
  const std::string said = error_of([&] { evaluate({}); });
  EXPECT_SAYS(said, "masks/0.png: the mask is 8x8");
  EXPECT_SAYS(said, "40x30");
}

}  // namespace
}  // namespace crisp::flow
