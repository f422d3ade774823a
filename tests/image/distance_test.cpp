#include "crisp/image/distance.h"

#include <gtest/gtest.h>

#include "crisp/base/random.h"
#include "tests/image/pixels.h"

namespace crisp::image {
namespace {

Mask random_mask(int width, int height, double share, Rng& rng) {
  Mask mask(width, height);
  for (uint8_t& label : mask.labels) label = rng.chance(share) ? static_cast<uint8_t>(1 + rng.below(200)) : uint8_t{0};
  return mask;
}

// The definition, pixel by pixel.
struct Nearest {
  int32_t squared = kFarAway;
  uint8_t label = 0;
};
template <typename IsFeature>
Nearest nearest(const Mask& mask, int x, int y, IsFeature is_feature) {
  Nearest best;
  for (int v = 0; v < mask.height; ++v) {
    for (int u = 0; u < mask.width; ++u) {
      const uint8_t label = mask.row(v)[u];
      if (!is_feature(label)) continue;
      const int32_t squared = (x - u) * (x - u) + (y - v) * (y - v);
      if (squared < best.squared || (squared == best.squared && label < best.label)) best = {squared, label};
    }
  }
  return best;
}

}  // namespace

TEST(Distance, EqualsScipy) {
  for (const std::string name : {"dots", "band", "one", "line"}) {
    const Mask features = golden_mask("distance_" + name);
    EXPECT_EQ(squared_distance(features), golden_numbers<int32_t>("distance_" + name + ".i32")) << name;
  }
}

TEST(Distance, EqualsBruteForce) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const int width = 1 + static_cast<int>(rng.below(20)), height = 1 + static_cast<int>(rng.below(20));
    const Mask features = random_mask(width, height, rng.uniform() * rng.uniform(), rng);
    const std::vector<int32_t> squared = squared_distance(features);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto expected = nearest(features, x, y, [](uint8_t label) { return label != 0; });
        ASSERT_EQ(squared[static_cast<size_t>(y * width + x)], expected.squared) << round << ": " << x << ", " << y;
      }
    }
  }
}

TEST(Distance, WithoutFeaturesIsFarAway) {
  EXPECT_EQ(squared_distance(Mask(3, 2)), std::vector<int32_t>(6, kFarAway));
  EXPECT_TRUE(squared_distance(Mask()).empty());
}

TEST(Distance, SaturatesInsteadOfOverflowing) {
  Mask line(70'000, 1);
  line.labels[0] = 1;
  const std::vector<int32_t> squared = squared_distance(line);
  EXPECT_EQ(squared[46'340], 46'340 * 46'340);
  EXPECT_EQ(squared[46'341], kFarAway);
  EXPECT_EQ(squared[69'999], kFarAway);
}

TEST(FillVoid, EqualsScipyLabelByLabel) {
  EXPECT_TRUE(same(fill_void(golden_mask("void")), golden_mask("void_filled")));
}

TEST(FillVoid, EqualsBruteForceWithTies) {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    const int width = 1 + static_cast<int>(rng.below(18)), height = 1 + static_cast<int>(rng.below(18));
    Mask mask(width, height, kIgnore);
    // Few labels on a coarse lattice, so that ties abound.
    const int step = 1 + static_cast<int>(rng.below(4));
    for (int y = 0; y < height; y += step) {
      for (int x = 0; x < width; x += step) {
        if (rng.chance(0.4)) mask.row(y)[x] = static_cast<uint8_t>(rng.below(4));
      }
    }
    const Mask filled = fill_void(mask);
    const bool empty = std::count(mask.labels.begin(), mask.labels.end(), kIgnore) == width * height;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto expected = nearest(mask, x, y, [](uint8_t label) { return label != kIgnore; });
        ASSERT_EQ(filled.row(y)[x], empty ? kIgnore : expected.label) << round << ": " << x << ", " << y;
      }
    }
  }
}

TEST(FillVoid, TakesTheSmallestOfEquallyNearLabels) {
  Mask row(5, 1, kIgnore);
  row.labels[0] = 9;
  row.labels[4] = 2;
  EXPECT_EQ(fill_void(row).labels, (std::vector<uint8_t>{9, 9, 2, 2, 2}));
}

TEST(FillVoid, LeavesAMaskOfVoidAlone) {
  EXPECT_EQ(fill_void(Mask(4, 3, kIgnore)).labels, std::vector<uint8_t>(12, kIgnore));
  EXPECT_EQ(fill_void(Mask(2, 2, 7), 7).labels, std::vector<uint8_t>(4, 7));
}

}  // namespace crisp::image
