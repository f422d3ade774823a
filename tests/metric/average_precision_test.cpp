// Average precision against scikit-learn's, ties included.
#include "crisp/metric/average_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/support.h"

namespace crisp::test {
namespace {

TEST(AveragePrecision, AgreesWithScikitLearn) {
  const auto cases = nlohmann::json::parse(read_text(golden("goldens/train/average_precision.json")));
  ASSERT_EQ(cases.size(), 5u);
  for (const auto& item : cases) {
    const auto scores = item["scores"].get<std::vector<float>>();
    const auto positive = item["positive"].get<std::vector<uint8_t>>();
    EXPECT_NEAR(metric::average_precision(scores, positive), item["value"].get<double>(), 1e-12) << scores.size();
  }
}

TEST(AveragePrecision, HandValues) {
  EXPECT_DOUBLE_EQ(metric::average_precision({0.9f, 0.8f, 0.7f}, {1, 0, 1}), 0.5 * 1 + 0.5 * 2 / 3);
  EXPECT_DOUBLE_EQ(metric::average_precision({0.5f, 0.5f, 0.5f, 0.5f}, {1, 0, 0, 0}), 0.25);
  EXPECT_TRUE(std::isnan(metric::average_precision({0.5f}, {0})));
}

TEST(AveragePrecision, TheMeanIsOverClassesThatOccur) {
  const metric::MeanAveragePrecision mean =
      metric::mean_average_precision({{0.9f, 0.1f, 0.3f}, {0.2f, 0.8f, 0.1f}}, {{1, 1, 0}, {0, 0, 0}});
  EXPECT_EQ(mean.classes, 2);
  EXPECT_DOUBLE_EQ(mean.value, (1.0 + 0.5) / 2);
  EXPECT_EQ(metric::mean_average_precision({}, {}).classes, 0);
}

}  // namespace
}  // namespace crisp::test
