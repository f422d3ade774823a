// From activation maps to labels: posterior, background score, uncertainty, the chain of refinements.
#include "crisp/seed/posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/seed/refine.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

using seed::Refinement;

// Three pixels of a photo tagged 2 and 5.
const seed::Cams kCams{3, 1, {2, 5}, {0.9f, 0.3f, 0.0f, 0.15f, 0.3f, 0.0f}};

TEST(Posterior, ConstantBackgroundByHand) {
  const seed::Posterior p = seed::posterior(kCams, {.power = false, .value = 0.45});
  ASSERT_EQ(p.labels, (std::vector<int>{0, 2, 5}));
  const std::vector<double> expected = {0.45 / 1.5, 0.45 / 1.05, 0.45 / 0.45002,  //
                                        0.9 / 1.5,  0.3 / 1.05,  1e-5 / 0.45002,  //
                                        0.15 / 1.5, 0.3 / 1.05,  1e-5 / 0.45002};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(p.probabilities[i], expected[i], 1e-6) << i;
}

TEST(Posterior, PowerOfWhatIsLeftByHand) {
  const seed::Posterior p = seed::posterior(kCams, {.power = true, .value = 4});
  EXPECT_NEAR(p.probabilities[0], 1e-4 / (1e-4 + 1.05), 1e-7);
  EXPECT_NEAR(p.probabilities[1], 0.2401 / 0.8401, 1e-6);
  EXPECT_NEAR(p.probabilities[2], 1 / 1.00002, 1e-6);
}

TEST(Posterior, AMapJustAboveOneIsNoTrouble) {
  const seed::Cams cams{1, 1, {1}, {std::nextafter(1.0f, 2.0f)}};
  const seed::Posterior p = seed::posterior(cams, {.power = true, .value = 2.5});
  EXPECT_NEAR(p.probabilities[1], 1 / 1.00001, 1e-5);
  EXPECT_NEAR(p.probabilities[0], 1e-5, 1e-6);
}

TEST(Posterior, WithoutABackgroundTheTagsShareEveryPixel) {
  seed::Cams cams = kCams;
  cams.background = false;
  const seed::Posterior p = seed::posterior(cams, {.power = false, .value = 0.45});
  ASSERT_EQ(p.labels, (std::vector<int>{2, 5}));
  EXPECT_NEAR(p.probabilities[0], 0.9 / 1.05, 1e-6);
  EXPECT_NEAR(p.probabilities[3], 0.15 / 1.05, 1e-6);
  EXPECT_EQ(seed::to_seed(p).labels.labels, (std::vector<uint8_t>{2, 2, 2})) << "never 0";
}

TEST(Posterior, LabelsAndUncertaintyByHand) {
  const seed::Posterior p{4, 1, {0, 2, 5}, {0.5f, 0.25f, 0.2f, 0.4f, 0.5f, 0.6f, 0.3f, 0.4f, 0.0f, 0.15f, 0.5f, 0.2f}};
  const data::Seed seed = seed::to_seed(p);
  EXPECT_EQ(seed.labels.labels, (std::vector<uint8_t>{0, 2, 5, 0})) << "the first of equals";
  // 1 - (p1 - p2) of 255 levels.
  EXPECT_EQ(seed.uncertainty.labels[0], 255);
  EXPECT_EQ(seed.uncertainty.labels[1], std::lround(255 * 0.65));
  EXPECT_EQ(seed.uncertainty.labels[2], std::lround(255 * 0.8));
  EXPECT_EQ(seed.uncertainty.labels[3], 255);
  EXPECT_EQ(seed::best_labels(p).labels, seed.labels.labels);
}

TEST(Posterior, APhotoWithoutTagsIsSurelyBackground) {
  const seed::Posterior p = seed::posterior({2, 2, {}, {}}, {});
  const data::Seed seed = seed::to_seed(p);
  EXPECT_EQ(seed.labels.labels, (std::vector<uint8_t>(4, 0)));
  EXPECT_EQ(seed.uncertainty.labels, (std::vector<uint8_t>(4, 0)));
}

TEST(Background, WordsAndMistakes) {
  EXPECT_EQ(seed::to_string(seed::parse_background("0.45")), "0.45");
  EXPECT_EQ(seed::to_string(seed::parse_background("power:4")), "power:4");
  EXPECT_TRUE(seed::parse_background("power:2.5").power);
  for (const char* word : {"", "0", "1", "1.2", "-0.3", "power", "power:", "power:0", "power:-1", "power:x", "nan"}) {
    EXPECT_NE(error_of([&] { seed::parse_background(word); }).find("--background"), std::string::npos) << word;
  }
}

TEST(Refine, ChainsAreReadInOrderAndMistakesNamed) {
  EXPECT_EQ(seed::parse_refinements({"affinity", "crf"}), (std::vector{Refinement::kAffinity, Refinement::kCrf}));
  EXPECT_EQ(seed::to_string(seed::parse_refinements({"par", "crf"})), "par,crf");
  EXPECT_TRUE(seed::parse_refinements({"none"}).empty());
  EXPECT_EQ(seed::to_string(std::vector<Refinement>{}), "none");
  EXPECT_THROW(seed::parse_refinements({"none", "crf"}), UsageError);
  EXPECT_THROW(seed::parse_refinements({"crf", "none"}), UsageError);
  EXPECT_NE(error_of([] { seed::parse_refinements({"crg"}); }).find("crf, par, affinity"), std::string::npos);
}

// A red square on green; the maps know only its middle.
struct Scene {
  image::Image photo{32, 32};
  seed::Cams cams{32, 32, {3}, std::vector<float>(1024, 0.1f)};
  Scene() {
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 32; ++x) {
        const bool inside = x >= 8 && x < 24 && y >= 8 && y < 24, middle = x >= 12 && x < 20 && y >= 12 && y < 20;
        photo.row(y)[3 * x] = inside ? 220 : 30;
        photo.row(y)[3 * x + 1] = inside ? 30 : 160;
        cams.maps[static_cast<size_t>(32 * y + x)] = middle ? 0.9f : inside ? 0.42f : 0.1f;
      }
    }
  }
  double share_right(const seed::Posterior& p) const {
    const image::Mask labels = seed::best_labels(p);
    int right = 0;
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 32; ++x) {
        const bool inside = x >= 8 && x < 24 && y >= 8 && y < 24;
        right += labels.row(y)[x] == (inside ? 3 : 0);
      }
    }
    return right / 1024.0;
  }
};

// Features at stride 8 that know the square: two by two cells in four by four.
seed::AffinityFeatures square_features() {
  seed::AffinityFeatures features{1, 4, 4, std::vector<float>(16, 0.0f)};
  for (const size_t cell : {5, 6, 9, 10}) features.values[cell] = 3;
  return features;
}

TEST(Refine, LabelsFollowTheColours) {
  const Scene scene;
  const seed::Posterior raw = seed::posterior(scene.cams, {});
  EXPECT_NEAR(scene.share_right(raw), 1 - 192.0 / 1024, 1e-9);
  for (const Refinement step : {Refinement::kCrf, Refinement::kPar}) {
    seed::RefineOptions options;
    options.chain = {step};
    seed::Posterior p = raw;
    seed::refine(scene.photo, {}, options, p);
    EXPECT_GE(scene.share_right(p), 0.95) << seed::to_string(options.chain);
    for (size_t i = 0; i < 1024; ++i) ASSERT_NEAR(p.probabilities[i] + p.probabilities[1024 + i], 1, 1e-4);
  }
}

TEST(Refine, TheWalkSpreadsOneCellOverItsSquareAndNoFarther) {
  Scene scene;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      scene.cams.maps[static_cast<size_t>(32 * y + x)] = x >= 8 && x < 16 && y >= 8 && y < 16 ? 0.9f : 0.1f;
    }
  }
  seed::RefineOptions options;
  options.chain = {Refinement::kAffinity};
  seed::Posterior p = seed::posterior(scene.cams, {});
  seed::refine(scene.photo, square_features(), options, p);
  const auto at = [&](int y, int x) { return p.probabilities[static_cast<size_t>(1024 + 32 * y + x)]; };
  for (const auto& [y, x] : {std::pair{11, 20}, {20, 11}, {20, 20}}) EXPECT_NEAR(at(y, x), at(11, 11), 1e-3);
  EXPECT_GT(at(11, 11), at(3, 3) + 0.05);
  EXPECT_NEAR(at(3, 3), at(28, 28), 1e-3);
  for (size_t i = 0; i < 1024; ++i) ASSERT_NEAR(p.probabilities[i] + p.probabilities[1024 + i], 1, 1e-4);
  // A chain is one step after the other.
  seed::Posterior then = p, chained = seed::posterior(scene.cams, {});
  options.chain = {Refinement::kCrf};
  seed::refine(scene.photo, {}, options, then);
  options.chain = {Refinement::kAffinity, Refinement::kCrf};
  seed::refine(scene.photo, square_features(), options, chained);
  EXPECT_EQ(chained.probabilities, then.probabilities);
}

// What a walk levels stays above a background that is asked afterwards, and drowns in one that takes part.
TEST(Refine, AWalkOfMapsComesBeforeTheBackground) {
  Scene scene;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      scene.cams.maps[static_cast<size_t>(32 * y + x)] = x >= 8 && x < 16 && y >= 8 && y < 16 ? 1.0f : 0.0f;
    }
  }
  seed::RefineOptions options;
  options.chain = {Refinement::kAffinity};
  const seed::Posterior maps = seed::refined(scene.photo, scene.cams, square_features(), {}, options);
  EXPECT_GE(scene.share_right(maps), 0.9);
  options.walk_maps = false;
  const seed::Posterior levelled = seed::refined(scene.photo, scene.cams, square_features(), {}, options);
  EXPECT_NEAR(scene.share_right(levelled), 0.75, 1e-9);  // background everywhere
  EXPECT_EQ(seed::refined(scene.photo, {32, 32, {}, {}}, {}, {}, {.chain = {Refinement::kAffinity}}).labels.size(), 1u);
}

TEST(Refine, BackgroundAloneStaysAsItIs) {
  const Scene scene;
  seed::Posterior p = seed::posterior({32, 32, {}, {}}, {});
  seed::RefineOptions options;
  options.chain = {Refinement::kCrf, Refinement::kPar, Refinement::kAffinity};
  seed::refine(scene.photo, {}, options, p);
  EXPECT_EQ(p.probabilities, std::vector<float>(1024, 1.0f));
}

}  // namespace
}  // namespace crisp::test
