// Intervals, comparison, storage, and what bad input is told.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "crisp/metric/compare.h"
#include "crisp/metric/json.h"
#include "crisp/metric/score_image.h"
#include "crisp/metric/tables.h"
#include "tests/support/support.h"

namespace crisp::metric {
namespace {

using test::error_of;

// An image of 100 pixels, half background, half class 1, of which `hits` are right.
ImageScores image_with(const std::string& name, int hits, const Options& options) {
  image::Mask truth(10, 10), prediction(10, 10);
  for (int i = 50; i < 100; ++i) truth.labels[static_cast<size_t>(i)] = 1;
  for (int i = 50; i < 50 + hits; ++i) prediction.labels[static_cast<size_t>(i)] = 1;
  return score_image(name, truth, prediction, options);
}

Options two_classes() {
  Options options;
  options.classes = 2;
  return options;
}

// Images whose quality varies, the second evaluation better by `gain` pixels.
Accumulator evaluation(int images, int gain, const Options& options) {
  Accumulator accumulator(options);
  Rng random(3);
  for (int i = 0; i < images; ++i) {
    const int hits = 10 + static_cast<int>(random.below(30));
    accumulator.add(image_with(fmt::format("{:04}", i), std::min(50, hits + gain), options));
  }
  return accumulator;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(MetricBootstrap, DrawsAreFixedByTheirNumber) {
  const std::vector<int32_t> counts = draw_counts(1, 5, 1000);
  int64_t sum = 0, absent = 0;
  for (const int32_t count : counts) sum += count, absent += count == 0;
  EXPECT_EQ(sum, 1000);
  EXPECT_NEAR(static_cast<double>(absent), 1000 / 2.718281828, 60);  // (1 - 1/n)^n are never picked
  EXPECT_EQ(counts, draw_counts(1, 5, 1000));
  EXPECT_NE(counts, draw_counts(1, 6, 1000));
  EXPECT_NE(counts, draw_counts(2, 5, 1000));
}

TEST(MetricBootstrap, IntervalIsTheInterpolatedPercentile) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  EXPECT_EQ(*interval95(values), (Interval{2.5, 97.5}));
  EXPECT_EQ(*interval95({4.0}), (Interval{4, 4}));
  EXPECT_FALSE(interval95({}));
}

TEST(MetricBootstrap, WidthIsThatOfTheCentralLimit) {
  // Pixel accuracy is a mean over equal images: its interval must be 1.96 standard errors to each side.
  const Accumulator accumulator = evaluation(400, 0, two_classes());
  double sum = 0, squares = 0;
  for (const auto& [name, image] : accumulator.images()) {
    const double accuracy = *image_headline(image, accumulator.options()).pixel_accuracy;
    sum += accuracy, squares += accuracy * accuracy;
  }
  const double error = std::sqrt((squares / 400 - sum / 400 * sum / 400) / 400);
  const Metrics m = accumulator.finish(2);
  EXPECT_NEAR(*m.pixel_accuracy, sum / 400, 1e-9);
  const Interval interval = m.ci95.at("pixel_accuracy");
  EXPECT_NEAR((interval.high - interval.low) / (2 * 1.96 * error), 1, 0.1);
  EXPECT_LT(interval.low, *m.pixel_accuracy);
  EXPECT_GT(interval.high, *m.pixel_accuracy);
  EXPECT_EQ(m, accumulator.finish(1));
}

TEST(MetricCompare, FindsARealGainAndNoOther) {
  const Accumulator a = evaluation(60, 0, two_classes()), b = evaluation(60, 3, two_classes());
  const Comparison gain = compare(a, b);
  EXPECT_EQ(gain.images, 60);
  const Difference& miou = gain.numbers.front();
  EXPECT_EQ(miou.name, "miou");
  EXPECT_DOUBLE_EQ(miou.difference, miou.b - miou.a);
  // Pairing removes the spread between images: the difference is far clearer than either interval.
  EXPECT_GT(miou.ci95->low, 0);
  EXPECT_LT(miou.ci95->high - miou.ci95->low, 0.2 * (a.finish().ci95.at("miou").high - a.finish().ci95.at("miou").low));
  EXPECT_NEAR(*miou.p_value, 2.0 / 1001, 1e-12);
  EXPECT_EQ(gain.classes.front().label, 1);
  EXPECT_GE(std::abs(gain.images_by_change.front().difference), std::abs(gain.images_by_change.back().difference));

  const Comparison none = compare(a, a);
  for (const Difference& number : none.numbers) {
    EXPECT_EQ(number.difference, 0);
    EXPECT_EQ(*number.p_value, 1);
  }
  const Comparison loss = compare(b, a);
  EXPECT_DOUBLE_EQ(loss.numbers.front().ci95->high, -miou.ci95->low);
}

TEST(MetricCompare, RefusesWhatCannotBePaired) {
  const Accumulator a = evaluation(3, 0, two_classes()), b = evaluation(4, 0, two_classes());
  EXPECT_TRUE(has(error_of([&] { compare(a, b); }), "only in the second: 0003"));
  Options other = two_classes();
  other.boundary_tolerance = 3;
  EXPECT_TRUE(has(error_of([&] { compare(a, evaluation(3, 0, other)); }), "different options"));
  other = two_classes();
  other.classes = 3;
  EXPECT_TRUE(has(error_of([&] { compare(a, evaluation(3, 0, other)); }), "2 and 3 classes"));
  other = two_classes();
  other.seed = 9;
  EXPECT_EQ(error_of([&] { compare(a, evaluation(3, 0, other)); }), "no error");
}

TEST(MetricJson, RoundTripIsExact) {
  Options options = two_classes();
  options.seed = std::numeric_limits<uint64_t>::max();
  options.boundary_tolerance = 0.1;
  Accumulator accumulator = evaluation(7, 0, options);
  image::Mask mask(3, 1);
  const std::vector<float> probabilities = {0.1F, 0.7F, 0.3F, 0.9F, 0.3F, 0.7F};
  accumulator.add(score_image("with \"quotes\" and ü", mask, mask, options, {{}, probabilities}));
  const std::string text = to_json(accumulator);
  const Accumulator again = accumulator_from_json(text, "x");
  EXPECT_EQ(again.images(), accumulator.images());
  EXPECT_EQ(again.options(), accumulator.options());
  EXPECT_EQ(again.finish(), accumulator.finish());
  EXPECT_EQ(to_json(again), text);
}

TEST(MetricJson, DamagedFilesAreNamed) {
  const std::string good = to_json(evaluation(2, 0, two_classes()));
  const auto message = [](const std::string& text) {
    return error_of([&] { accumulator_from_json(text, "runs/a/scores.json"); });
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
  };
  ASSERT_EQ(message(good), "no error");
  for (const std::string& bad :
       {std::string(), std::string("[1]"), std::string("{}"), good.substr(0, good.size() / 2),
        with("\"version\":1", "\"version\":2"), with("\"classes\":2", "\"classes\":300"),
        with("\"classes\":2", "\"classes\":3"), with("\"confusion\":[[", "\"confusion\":[[1],["),
        with("[[0,50,", "[[0,-50,"), with("[[0,50,", "[[0,5,"), with("[[0,50,", "[[7,50,"),
        with("[[0,50,", "[[0,5e300,"), with("[[0,50,", "[[0,9223372036854775807,"),
        with("\"compactness\":[0,0.0]", "\"compactness\":[0,1e300]"),
        with("\"small_objects\":[1,0]", "\"small_objects\":[1,2]"), with("\"confusion\":[[", "\"confusion\":[[-"),
        with("\"0001\"", "\"0000\""), with("\"tv_smoothness\"", "\"tv\""),
        with("\"compactness\":[", "\"compactness\":[\"x\",")}) {
    const std::string text = message(bad);
    EXPECT_TRUE(has(text, "runs/a/scores.json: not the image scores")) << text << " for " << bad.substr(0, 300);
  }
}

TEST(MetricJson, MetricsHaveEveryKeyAndNullForNone) {
  const Metrics metrics = evaluation(5, 0, two_classes()).finish();
  const nlohmann::json json = nlohmann::json::parse(to_json(metrics, {"background", "thing"}, 2));
  for (const HeadlineField& field : kHeadline) EXPECT_TRUE(json.contains(std::string(field.name)));
  EXPECT_TRUE(json.at("ece").is_null());
  EXPECT_EQ(json.at("miou").get<double>(), *metrics.miou);
  EXPECT_EQ(json.at("ci95").at("miou")[0].get<double>(), metrics.ci95.at("miou").low);
  EXPECT_EQ(json.at("per_class")[1].at("name"), "thing");
  EXPECT_EQ(json.at("per_class")[1].at("pixels"), 250);
  EXPECT_EQ(json.at("images"), 5);
  EXPECT_EQ(json.at("skipped"), 2);
  EXPECT_GE(json.at("protocol").size(), 10u);
  EXPECT_TRUE(has(error_of([&] { to_json(metrics, {"one"}); }), "1 class names"));
}

TEST(MetricJson, ComparisonNamesClassesAndImages) {
  const Accumulator a = evaluation(5, 0, two_classes()), b = evaluation(5, 2, two_classes());
  const Comparison comparison = compare(a, b);
  const nlohmann::json json = nlohmann::json::parse(to_json(comparison, {"background", "thing"}));
  EXPECT_EQ(json.at("images"), 5);
  EXPECT_EQ(json.at("numbers").at("miou").at("difference").get<double>(), comparison.numbers[0].difference);
  EXPECT_EQ(json.at("numbers").at("miou").at("ci95").size(), 2u);
  EXPECT_EQ(json.at("classes")[0].at("name"), "thing");
  EXPECT_EQ(json.at("images_by_change").size(), 5u);
}

TEST(MetricTables, Csv) {
  Options options = two_classes();
  options.bootstrap_draws = 0;
  Accumulator accumulator(options);
  accumulator.add(image_with("a,b", 25, options));
  const Metrics metrics = accumulator.finish();
  EXPECT_TRUE(metrics.ci95.empty());
  const std::string classes = per_class_csv(metrics, {"background", "a \"thing\""});
  EXPECT_TRUE(
      has(classes, "label,name,iou,dice,accuracy,boundary_f1,boundary_iou,pixels\n0,background,66.666667,80.000000,"));
  EXPECT_TRUE(has(classes, "\n1,\"a \"\"thing\"\"\",50.000000,66.666667,50.000000,"));
  const std::string images = per_image_csv(accumulator);
  EXPECT_TRUE(has(images, "image,miou,mdice,pixel_accuracy,"));
  EXPECT_TRUE(has(images, "\n\"a,b\",58.333333,73.333333,75.000000,75.000000,"));
  EXPECT_TRUE(has(images, ",,"));  // no confidence was given
  EXPECT_EQ(confusion_csv(metrics, {"x", "y"}), "truth \\ prediction,x,y,without a class\nx,50,0,0\ny,25,25,0\n");
}

TEST(MetricProtocol, SaysEveryChoice) {
  const auto text = [](const Options& options) {
    std::string all;
    for (const std::string& line : protocol(options)) all += line + "\n";
    return all;
  };
  const Options usual;
  Options other;
  other.classes = 81, other.ignore = 254, other.boundary_tolerance = 3.5, other.band_diagonal = 0.01;
  other.ece_bins = 20, other.small_object_pixels = 77, other.shape_min_pixels = 99, other.bootstrap_draws = 123;
  other.seed = 456;
  for (const char* value : {"81", "254", "3.5 pixels", "1% of the diagonal", "20 equal", "77", "99", "123", "456"}) {
    EXPECT_TRUE(has(text(other), value)) << value;
    EXPECT_FALSE(has(text(usual), value)) << value;
  }
  other.boundary_diagonal = 0.0075;
  EXPECT_TRUE(has(text(other), "0.75% of the image's diagonal"));
}

TEST(MetricBadInput, MessagesNameTheImageAndTheValue) {
  const Options options = two_classes();
  image::Mask truth(4, 3), prediction(4, 3);
  const auto score = [&](const Certainty& certainty = {}) {
    return error_of([&] { score_image("photo 7", truth, prediction, options, certainty); });
  };
  ASSERT_EQ(score(), "no error");
  prediction = image::Mask(3, 4);
  EXPECT_EQ(score(), "photo 7: the prediction is 3x4 but the truth is 4x3; resize the prediction (nearest neighbour)");
  prediction = image::Mask(4, 3);
  truth.row(2)[1] = 9;
  EXPECT_TRUE(has(score(), "photo 7: the truth has label 9 at x=1 y=2, but there are 2 classes")) << score();
  truth.row(2)[1] = 255;
  prediction.row(1)[3] = 2;
  EXPECT_TRUE(has(score(), "photo 7: the prediction has label 2 at x=3 y=1")) << score();
  prediction.row(1)[3] = 255;
  EXPECT_EQ(score(), "no error");
  std::vector<float> values(12, 0.5F);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(has(score({values, {}}), "confidence number 5 is nan"));
  values[5] = 3.0F;
  EXPECT_TRUE(has(score({values, {}}), "confidence number 5 is 3"));
  EXPECT_TRUE(has(score({{}, values}), "12 probabilities were given, expected 24"));
  truth = prediction = image::Mask();
  EXPECT_TRUE(has(score(), "photo 7: the mask is empty"));
}

TEST(MetricBadInput, OptionsAndDuplicates) {
  Options options = two_classes();
  options.ece_bins = 0;
  EXPECT_TRUE(has(error_of([&] { Accumulator{options}; }), "ece_bins: 0 is out of range"));
  options = two_classes();
  options.boundary_tolerance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has(error_of([&] { check(options); }), "boundary_tolerance"));
  options = two_classes();
  options.classes = 256;
  EXPECT_TRUE(has(error_of([&] { check(options); }), "classes: 256"));

  Accumulator a(two_classes()), b(two_classes());
  a.add(image_with("x", 5, two_classes()));
  b.add(image_with("x", 6, two_classes()));
  EXPECT_TRUE(has(error_of([&] { a.add(image_with("x", 5, two_classes())); }), "x: the image occurs twice"));
  EXPECT_TRUE(has(error_of([&] { a.merge(b); }), "x: the image is in both"));
  options = two_classes();
  options.small_object_pixels = 5;
  EXPECT_TRUE(has(error_of([&] { a.merge(Accumulator(options)); }), "different options"));
}

}  // namespace crisp::metric
