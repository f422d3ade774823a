// Which pixels of a pseudo-label are dropped as uncertain.
#include "crisp/loss/valid.h"

#include <gtest/gtest.h>

#include <limits>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

using image::Mask;
using loss::DropOptions;

Mask row(std::vector<uint8_t> values) {
  Mask mask(static_cast<int>(values.size()), 1);
  mask.labels = std::move(values);
  return mask;
}

std::vector<uint8_t> dropped(const Mask& labels, const Mask& uncertainty, const DropOptions& options) {
  return loss::drop_uncertain(labels, uncertainty, loss::kept_levels(labels, uncertainty, options)).labels;
}

using Labels = std::vector<uint8_t>;

TEST(Valid, DropsTheMostUncertainShareOfEachClass) {
  const Mask labels = row({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 255});
  const Mask uncertainty = row({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 40, 30, 20, 10, 255});
  EXPECT_EQ(dropped(labels, uncertainty, {.share = 0.3}),  // 3 of 10, and 1 of 4
            (Labels{0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 7, 7, 7, 255}));
  EXPECT_EQ(dropped(labels, uncertainty, {.share = 0}), labels.labels);
  EXPECT_EQ(dropped(labels, uncertainty, {.share = 1}), Labels(15, 255)) << "no level is 0 here";
}

TEST(Valid, TiesGoOrStayTogetherAndAFlatMapLosesNothing) {
  const Mask labels = row(Labels(10, 3));
  EXPECT_EQ(dropped(labels, row(Labels(10, 200)), {.share = 0.9}), labels.labels);
  // Two at the top fit into three; the next level, three pixels, does not fit any more.
  EXPECT_EQ(dropped(labels, row({9, 9, 8, 8, 8, 1, 1, 1, 1, 1}), {.share = 0.3}),
            (Labels{255, 255, 3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(dropped(labels, row({9, 9, 9, 9, 8, 1, 1, 1, 1, 1}), {.share = 0.3}), labels.labels);
}

TEST(Valid, ShareIsCountedAsWritten) {
  Mask labels = row(Labels(100, 1)), uncertainty = labels;
  for (size_t i = 0; i < 100; ++i) uncertainty.labels[i] = static_cast<uint8_t>(i);
  const auto out = dropped(labels, uncertainty, {.share = 0.29});  // 28.999999999999996 in binary
  EXPECT_EQ(std::count(out.begin(), out.end(), 255), 29);
}

TEST(Valid, KeepsEnoughOfEveryClass) {
  const Mask labels = row({0, 0, 0, 0, 0, 0, 4, 4, 4, 9});
  const Mask uncertainty = row({1, 2, 3, 4, 5, 6, 99, 98, 97, 200});
  EXPECT_EQ(dropped(labels, uncertainty, {.threshold = 0.01}), (Labels{0, 0, 255, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(dropped(labels, uncertainty, {.keep_at_least = 2, .threshold = 0.01}),
            (Labels{0, 0, 255, 255, 255, 255, 255, 4, 4, 9}));
  EXPECT_EQ(dropped(labels, uncertainty, {.share = 0.5, .keep_at_least = 50}), labels.labels);
}

TEST(Valid, ImageWideLooksAtAllClassesTogether) {
  const Mask labels = row({0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 255, 255});
  const Mask uncertainty = row({1, 2, 3, 4, 5, 6, 7, 50, 60, 70, 255, 255});
  EXPECT_EQ(dropped(labels, uncertainty, {.share = 0.3, .image_wide = true}),
            (Labels{0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255}));
  EXPECT_EQ(dropped(labels, uncertainty, {.share = 0.3, .keep_at_least = 1, .image_wide = true}),
            (Labels{0, 0, 0, 0, 0, 0, 0, 4, 255, 255, 255, 255}));
}

TEST(Valid, ThresholdIsAShareOfTheLargestLevel) {
  EXPECT_EQ(dropped(row({1, 1, 1}), row({127, 128, 255}), {.threshold = 0.5}), (Labels{1, 255, 255}));
  EXPECT_EQ(dropped(row({1, 1, 1}), row({127, 128, 255}), {.threshold = 1.0}), (Labels{1, 1, 1}));
}

TEST(Valid, OnManyMapsTheCutIsExact) {
  Rng rng(3, 1);
  for (int round = 0; round < 50; ++round) {
    Mask labels(23, 17), uncertainty(23, 17);
    const int64_t levels = 1 + rng.below(256);
    for (size_t i = 0; i < labels.labels.size(); ++i) {
      labels.labels[i] = rng.below(5) == 0 ? uint8_t{255} : static_cast<uint8_t>(rng.below(4));
      uncertainty.labels[i] = static_cast<uint8_t>(rng.below(levels));
    }
    const double share = static_cast<double>(rng.below(101)) / 100;
    const auto out = dropped(labels, uncertainty, {.share = share});
    for (int label = 0; label < 4; ++label) {
      int64_t all = 0, gone = 0, next = 0;
      int highest_kept = -1, lowest_gone = 256;
      for (size_t i = 0; i < out.size(); ++i) {
        if (labels.labels[i] != label) continue;
        ++all;
        const int level = uncertainty.labels[i];
        if (out[i] == 255) {
          ++gone;
          lowest_gone = std::min(lowest_gone, level);
        } else {
          ASSERT_EQ(out[i], label);
          highest_kept = std::max(highest_kept, level);
        }
      }
      EXPECT_LT(highest_kept, lowest_gone);
      EXPECT_LE(static_cast<double>(gone), share * static_cast<double>(all) + 1e-6);
      for (size_t i = 0; i < out.size(); ++i)
        next += labels.labels[i] == label && uncertainty.labels[i] == highest_kept;
      if (highest_kept > 0) {  // one more level would have been too much
        EXPECT_GT(static_cast<double>(gone + next), share * static_cast<double>(all));
      }
    }
  }
}

TEST(Valid, LevelsOfTheWholeImageServeItsCrops) {
  const Mask labels = row({0, 0, 0, 0}), uncertainty = row({1, 2, 3, 4});
  const loss::KeptLevels kept = loss::kept_levels(labels, uncertainty, {.share = 0.5});
  EXPECT_EQ(loss::drop_uncertain(row({0, 0}), row({3, 4}), kept).labels, (Labels{255, 255}));
}

TEST(Valid, NonsenseIsRefused) {
  const Mask one = row({1});
  EXPECT_THROW(loss::kept_levels(one, one, {.share = 1.5}), UsageError);
  EXPECT_THROW(loss::kept_levels(one, one, {.share = std::numeric_limits<double>::quiet_NaN()}), UsageError);
  EXPECT_THROW(loss::kept_levels(one, one, {.keep_at_least = -1}), UsageError);
  EXPECT_THROW(loss::kept_levels(one, one, {.threshold = -0.1}), UsageError);
  EXPECT_NE(error_of([&] { loss::kept_levels(one, row({1, 2}), {}); }).find("1 x 1 pixels but"), std::string::npos);
  EXPECT_TRUE(dropped(Mask(), Mask(), {}).empty());
}

}  // namespace
}  // namespace crisp::test
