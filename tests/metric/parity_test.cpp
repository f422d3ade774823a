// Against scikit-learn, torchmetrics, scipy and scikit-image: see tests/goldens/metric.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/base/parallel.h"
#include "crisp/image/decode.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/score_image.h"
#include "tests/metric/cases.h"
#include "tests/support/support.h"

namespace crisp::metric {
namespace {

using Json = nlohmann::json;

Json read_json(const std::string& name) { return Json::parse(read_text(test::golden("goldens/metric/" + name))); }

image::Mask mask_from_hex(int width, int height, const std::string& hex) {
  image::Mask mask(width, height);
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    mask.labels[i] = static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return mask;
}

void expect_number(const Json& expected, std::optional<double> value, double tolerance, const std::string& what) {
  ASSERT_EQ(value.has_value(), !expected.is_null()) << what;
  if (value) {
    EXPECT_NEAR(*value, expected.get<double>(), tolerance) << what;
  }
}

void expect_metrics(const Json& expected, const Metrics& metrics) {
  for (const HeadlineField& field : kHeadline) {
    const std::string name(field.name);
    const bool counted = name == "miou" || name == "mdice" || name == "pixel_accuracy" || name == "mean_accuracy";
    expect_number(expected.at(name), metrics.*field.value, counted ? 1e-9 : 1e-6, name);
  }
  size_t present = 0;
  for (const ClassRow& row : metrics.per_class) present += row.iou.has_value();
  ASSERT_EQ(present, expected.at("per_class").size());
  for (const Json& row : expected.at("per_class")) {
    const ClassRow& ours = metrics.per_class.at(row.at("label").get<size_t>());
    const std::string what = "class " + std::to_string(ours.label);
    expect_number(row.at("iou"), ours.iou, 1e-9, what);
    expect_number(row.at("dice"), ours.dice, 1e-9, what);
    expect_number(row.at("accuracy"), ours.accuracy, 1e-9, what);
    expect_number(row.at("boundary_f1"), ours.boundary_f1, 1e-6, what);
    EXPECT_EQ(row.at("pixels").get<int64_t>(), ours.pixels) << what;
  }
  if (!expected.at("confusion").is_null()) {
    EXPECT_EQ(expected.at("confusion").get<std::vector<std::vector<int64_t>>>(), metrics.confusion);
  }
}

}  // namespace

TEST(MetricParity, SmallCases) {
  const Json cases = read_json("cases.json");
  ASSERT_EQ(cases.size(), 13u);
  for (size_t set = 0; set < cases.size(); ++set) {
    const Json& one = cases[set];
    SCOPED_TRACE(one.at("name").get<std::string>());
    Options options;
    options.classes = one.at("classes");
    options.bootstrap_draws = 10;
    const Json& given = one.at("options");
    options.ignore = given.value("ignore", 255);
    options.boundary_tolerance = given.value("tolerance", 2.0);
    options.boundary_diagonal = given.value("diagonal", 0.0);
    options.ece_bins = given.value("bins", 15);
    options.small_object_pixels = given.value("small", 1024);
    Accumulator accumulator(options);
    for (size_t i = 0; i < one.at("images").size(); ++i) {
      const Json& pair = one.at("images")[i];
      const image::Mask truth = mask_from_hex(pair.at("width"), pair.at("height"), pair.at("truth"));
      const image::Mask prediction = mask_from_hex(pair.at("width"), pair.at("height"), pair.at("prediction"));
      std::vector<float> probabilities;
      if (one.at("probabilities").get<bool>()) {
        probabilities = test::probabilities(static_cast<int>(set), static_cast<int>(i), prediction, options.classes);
      }
      accumulator.add(score_image(std::to_string(i), truth, prediction, options, {{}, probabilities}));
    }
    expect_metrics(one.at("expected"), accumulator.finish());
  }
}

TEST(MetricParity, PerturbedVocMasks) {
  CRISP_NEEDS_SHARED();
  const Json expected = read_json("voc.json");
  const std::vector<std::string> names = expected.at("names");
  ASSERT_EQ(names.size(), 40u);
  const TemporaryFolder folder;
  const Path tar = test::shared_folder() / "data" / "voc12-core.tar";
  std::string line = "tar xf " + test::quote(tar.string()) + " -C " + test::quote(folder.path().string());
  for (const std::string& name : names) line += " VOC2012/SegmentationClass/" + name + ".png";
  ASSERT_EQ(test::run_shell(line).status, 0);

  std::vector<ImageScores> scores(names.size());
  parallel_for(static_cast<int64_t>(names.size()), available_cores(), [&](int64_t i) {
    const std::string& name = names[static_cast<size_t>(i)];
    const image::Mask truth = image::read_mask(folder.path() / "VOC2012" / "SegmentationClass" / (name + ".png"));
    const std::vector<float> confidence = test::confidences(truth, static_cast<int>(i));
    scores[static_cast<size_t>(i)] =
        score_image(name, truth, test::perturb(truth, static_cast<int>(i)), Options{}, {confidence, {}});
  });
  Accumulator accumulator{Options{}};
  for (ImageScores& image : scores) accumulator.add(std::move(image));
  expect_metrics(expected.at("expected"), accumulator.finish());
}

}  // namespace crisp::metric
