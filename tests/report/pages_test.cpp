#include <fmt/format.h>

#include "crisp/metric/score_image.h"
#include "crisp/report/eval_page.h"
#include "crisp/report/picture.h"
#include "crisp/report/terminal.h"
#include "tests/report/markup.h"

namespace crisp::report {
namespace {

using test::count_of;
using test::fault_in;
using test::has;

const ClassNames kNames = {"background", "<b>cat</b>"};

metric::Options small_options() {
  metric::Options options;
  options.classes = 2;
  options.bootstrap_draws = 50;
  return options;
}

// Half of each image is the cat, of which `found` rows of 8 are found.
metric::Accumulator evaluation(int found, bool sure) {
  const metric::Options options = small_options();
  metric::Accumulator accumulator(options);
  for (int image = 0; image < 5; ++image) {
    image::Mask truth(16, 16), prediction(16, 16);
    for (int y = 0; y < 8; ++y) std::fill_n(truth.row(y), 16, uint8_t{1});
    for (int y = 0; y < found - image % 2; ++y) std::fill_n(prediction.row(y), 16, uint8_t{1});
    const std::vector<float> confidence(256, 0.75F);
    accumulator.add(metric::score_image("\"photo\" " + std::to_string(image), truth, prediction, options,
                                        {.confidence = sure ? confidence : std::span<const float>()}));
  }
  return accumulator;
}

Example example_with(bool photo) {
  Example example;
  example.name = "photo & <name>";
  example.score = 12.3;
  example.truth = image::Mask(4, 1);
  example.prediction = image::Mask(4, 1);
  example.truth.labels = {0, 1, 1, 255};
  example.prediction.labels = {1, 0, 1, 0};
  if (photo) {
    example.photo = image::Image(4, 1);
    example.uncertainty = image::Mask(4, 1, 128);
  }
  return example;
}

TEST(ReportEvalPage, HasEveryPartAndEscapesNames) {
  const metric::Metrics metrics = evaluation(6, true).finish(1);
  Examples examples;
  examples.worst = {example_with(true)};
  examples.best = {example_with(false)};
  const std::string page = eval_page({.title = "masks <mine>",
                                      .metrics = metrics,
                                      .classes = kNames,
                                      .left_out = &metrics,
                                      .examples = examples,
                                      .skipped = 3,
                                      .command = "crispformer eval --pred 'a & b'",
                                      .version = "1.2.3",
                                      .commit = "abcdef"});
  EXPECT_EQ(fault_in(page), "");
  for (const char* part :
       {"masks &lt;mine&gt;", "Mean IoU", "Boundary F1", "Calibration error", "Reliability", "Confusion",
        "&lt;b&gt;cat&lt;/b&gt;", "Worst images", "Best images", "Protocol", "3 images skipped", "Ignored seed pixels",
        "crispformer eval --pred &#39;a &amp; b&#39;", "1.2.3", "abcdef", "mIoU 12.3%"}) {
    EXPECT_TRUE(has(page, part)) << part;
  }
  EXPECT_TRUE(has(page, fmt::format("{:.2f}", *metrics.miou)));
  EXPECT_TRUE(has(page, fmt::format("{:.2f} - {:.2f}", metrics.ci95.at("miou").low, metrics.ci95.at("miou").high)));
  EXPECT_FALSE(has(page, "http")) << "nothing from elsewhere";
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_EQ(count_of(page, "<figure>"), 5u + 3u) << "without a photo: truth, prediction, errors";
}

TEST(ReportEvalPage, LeavesOutWhatIsNotKnown) {
  const metric::Metrics metrics = evaluation(6, false).finish(1);
  const Examples none;
  const std::string page = eval_page({.title = "t", .metrics = metrics, .classes = kNames, .examples = none});
  EXPECT_EQ(fault_in(page), "");
  for (const char* part : {"Reliability", "Worst images", "Ignored seed pixels", "skipped", "Confidence"}) {
    EXPECT_FALSE(has(page, part)) << part;
  }
}

TEST(ReportPictures, ErrorsHaveAColourForEachKind) {
  const image::Image errors = error_picture(example_with(false));
  const auto pixel = [&](size_t i) {
    return std::vector<int>(errors.rgb.begin() + static_cast<int>(3 * i),
                            errors.rgb.begin() + static_cast<int>(3 * i) + 3);
  };
  EXPECT_EQ(pixel(0), (std::vector<int>{224, 33, 138})) << "false alarm";
  EXPECT_EQ(pixel(1), (std::vector<int>{245, 179, 1})) << "missed";
  EXPECT_EQ(pixel(2), (std::vector<int>{104, 104, 104})) << "right";
  EXPECT_NE(pixel(3), pixel(2)) << "not scored";
}

TEST(ReportTerminal, TablesLineUp) {
  const metric::Metrics metrics = evaluation(6, false).finish(1);
  const std::string text = to_text(metrics, kNames);
  EXPECT_TRUE(has(text, "class"));
  EXPECT_TRUE(has(text, fmt::format("{:.2f}", *metrics.miou)));
  EXPECT_TRUE(has(text, "5 images"));
  EXPECT_FALSE(has(text, "ece")) << "numbers that are not there are not printed";
  EXPECT_TRUE(has(to_text(metrics, kNames, &metrics), "ignored left out"));
  EXPECT_FALSE(has(text, " \n")) << "no blanks at the end of a line";
}

TEST(ReportComparePage, ShowsDifferencesOfBoth) {
  const metric::Comparison comparison = metric::compare(evaluation(4, false), evaluation(7, false), 1);
  const std::string page = compare_page(
      {.title = "b against a", .name_a = "runs/<a>", .name_b = "runs/b", .comparison = comparison, .classes = kNames});
  EXPECT_EQ(fault_in(page), "");
  EXPECT_TRUE(has(page, "runs/&lt;a&gt;"));
  EXPECT_TRUE(has(page, fmt::format("{:+.2f}", comparison.numbers[0].difference)));
  EXPECT_TRUE(has(page, "class=\"plus\"")) << "a clear gain is green";
  const std::string text = to_text(comparison, kNames, 2);
  EXPECT_TRUE(has(text, "5 images in both"));
  EXPECT_EQ(count_of(text, "\"photo\""), 2u) << "the two that changed most";
}

}  // namespace
}  // namespace crisp::report
