#include "crisp/ops/affinity_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "tests/ops_plain/raw.h"

namespace crisp::ops {
namespace {

using test::raw;

constexpr int kHeight = 7, kWidth = 9, kChannels = 5, kLabels = 6;

TEST(AffinityWalk, PairOffsets) {
  EXPECT_TRUE(pair_offsets(1).empty());
  EXPECT_EQ(pair_offsets(2), (std::vector<PairOffset>{{0, 1}, {1, -1}, {1, 0}, {1, 1}}));
  const auto offsets = pair_offsets(5);
  EXPECT_EQ(offsets.size(), 34u);
  EXPECT_EQ(offsets.front(), (PairOffset{0, 1}));
  EXPECT_EQ(offsets[4], (PairOffset{1, -4}));
  EXPECT_EQ(offsets.back(), (PairOffset{4, 2}));
  EXPECT_THROW(pair_offsets(0), UsageError);
}

TEST(AffinityWalk, AffinitiesAgainstGolden) {
  const auto golden = raw<float>("walk_affinity.f32");
  const auto affinities = feature_affinities(raw<float>("walk_features.f32"), kChannels, kHeight, kWidth);
  ASSERT_EQ(affinities.size(), golden.size());
  for (size_t k = 0; k < golden.size(); ++k) ASSERT_NEAR(affinities[k], golden[k], 1e-6) << k;
}

// Against powers of the dense matrix.
TEST(AffinityWalk, PowersAgainstGolden) {
  const auto features = raw<float>("walk_features.f32"), scores = raw<float>("walk_scores.f32");
  struct {
    const char* name;
    int radius, steps;
    float beta;
  } cases[] = {{"walk_256.f32", 5, 256, 8}, {"walk_3.f32", 3, 3, 2}};
  for (const auto& c : cases) {
    const auto golden = raw<float>(c.name);
    const AffinityWalk walk(feature_affinities(features, kChannels, kHeight, kWidth, c.radius), kHeight, kWidth,
                            c.radius, c.beta);
    std::vector<float> out(scores.size());
    walk.apply(scores, kLabels, out, c.steps);
    ASSERT_EQ(out.size(), golden.size());
    for (size_t k = 0; k < golden.size(); ++k) ASSERT_NEAR(out[k], golden[k], 2e-6) << c.name << " " << k;
  }
}

// A map wider than one block of lanes, against the definition.
TEST(AffinityWalk, OneStepOnAWideMap) {
  constexpr int kH = 6, kW = 37;
  Rng rng(4);
  std::vector<float> features(3 * kH * kW), scores(5 * kH * kW), out(scores.size());
  for (float& f : features) f = static_cast<float>(rng.normal() * 0.3);
  for (float& s : scores) s = static_cast<float>(rng.uniform());
  AffinityWalk(feature_affinities(features, 3, kH, kW), kH, kW).apply(scores, 5, out, 1);
  const size_t pixels = kH * kW;
  for (int y = 0; y < kH; ++y)
    for (int x = 0; x < kW; ++x) {
      double sum = 0, weights = 0;
      const auto i = static_cast<size_t>(y * kW + x);
      for (int yy = 0; yy < kH; ++yy)
        for (int xx = 0; xx < kW; ++xx) {
          if ((yy - y) * (yy - y) + (xx - x) * (xx - x) >= 25) continue;
          const auto j = static_cast<size_t>(yy * kW + xx);
          double distance = 0;
          for (size_t c = 0; c < 3; ++c)
            distance += std::abs(features[c * pixels + i] - features[c * pixels + j]) / 3.0;
          const double weight = std::exp(-8 * distance);
          weights += weight;
          sum += weight * scores[4 * pixels + j];
        }
      ASSERT_NEAR(out[4 * pixels + i], sum / weights, 1e-5) << y << " " << x;
    }
}

TEST(AffinityWalk, NoStepChangesNothingAndConstantsStay) {
  const auto features = raw<float>("walk_features.f32"), scores = raw<float>("walk_scores.f32");
  const AffinityWalk walk(feature_affinities(features, kChannels, kHeight, kWidth), kHeight, kWidth);
  std::vector<float> out(scores.size());
  walk.apply(scores, kLabels, out, 0);
  EXPECT_EQ(out, scores);
  std::fill(out.begin(), out.end(), 0.7f);
  walk.apply(out, kLabels, out);  // in place
  for (const float s : out) ASSERT_EQ(s, 0.7f);
}

TEST(AffinityWalk, StrangeAffinities) {
  std::vector<float> affinities(34 * 12, 0.5f);
  affinities[0] = std::numeric_limits<float>::quiet_NaN();
  affinities[1] = -3;
  affinities[2] = std::numeric_limits<float>::infinity();
  affinities[3] = 1e-30f;
  std::vector<float> scores(12, 1.0f);
  AffinityWalk(affinities, 3, 4).apply(scores, 1, scores);
  for (const float s : scores) ASSERT_NEAR(s, 1, 1e-5);

  std::vector<float> one = {0.25f, std::numeric_limits<float>::quiet_NaN()};
  AffinityWalk(std::vector<float>(34, 1.0f), 1, 1).apply(one, 2, one);
  EXPECT_EQ(one, (std::vector<float>{0.25f, 0.0f}));
}

TEST(AffinityWalk, PairKindsAgainstGolden) {
  EXPECT_EQ(pair_kinds(raw<uint8_t>("pairs_labels.u8"), 8, 11), raw<uint8_t>("pairs_kinds.u8"));
}

TEST(AffinityWalk, ConfidentLabels) {
  const std::vector<uint8_t> low = {0, 0, 3, 3}, high = {0, 3, 3, 2};
  EXPECT_EQ(confident_labels(low, high), (std::vector<uint8_t>{0, 255, 3, 3}));
}

TEST(AffinityWalk, RefusesWhatMakesNoSense) {
  const std::vector<float> features(12);
  std::vector<float> scores(5);
  EXPECT_THROW(feature_affinities(features, 2, 3, 3), Error);
  EXPECT_THROW(feature_affinities(features, 0, 3, 4), Error);
  EXPECT_THROW(AffinityWalk(features, 3, 4), Error);
  EXPECT_THROW(AffinityWalk(std::vector<float>(34 * 12), 3, 4, 5, -1), UsageError);
  EXPECT_THROW(AffinityWalk(std::vector<float>(34 * 12), 3, 4).apply(scores, 1, scores), Error);
  EXPECT_THROW(confident_labels(std::vector<uint8_t>(3), std::vector<uint8_t>(4)), Error);
}

}  // namespace
}  // namespace crisp::ops
