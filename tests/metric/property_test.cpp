// What must hold for any masks, tried on random ones.
#include <gtest/gtest.h>

#include <cmath>

#include "crisp/image/distance.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/boundary.h"
#include "crisp/metric/score_image.h"
#include "tests/metric/cases.h"

namespace crisp::metric {
namespace {

// Rectangles of random classes on background, with some void and speckle.
image::Mask random_mask(Rng& random, int width, int height, int classes, bool with_void) {
  image::Mask mask(width, height);
  for (int n = 0; n < 6; ++n) {
    const uint8_t label = with_void && n == 4 ? image::kIgnore : static_cast<uint8_t>(random.below(classes));
    const int x0 = static_cast<int>(random.below(width)), y0 = static_cast<int>(random.below(height));
    const int x1 = x0 + static_cast<int>(random.below(width)), y1 = y0 + static_cast<int>(random.below(height));
    for (int y = y0; y < std::min(y1, height); ++y) {
      for (int x = x0; x < std::min(x1, width); ++x) mask.row(y)[x] = label;
    }
  }
  for (int n = 0; n < 10; ++n) {
    mask.labels[static_cast<size_t>(random.below(width * height))] = static_cast<uint8_t>(random.below(classes));
  }
  return mask;
}

struct Set {
  std::vector<image::Mask> truth, prediction;
};

Set random_set(uint64_t seed, int classes, int count = 9) {
  Rng random(seed);
  Set set;
  for (int i = 0; i < count; ++i) {
    const int width = 1 + static_cast<int>(random.below(60)), height = 1 + static_cast<int>(random.below(60));
    set.truth.push_back(random_mask(random, width, height, classes, true));
    set.prediction.push_back(random_mask(random, width, height, classes, false));
  }
  return set;
}

Options small_options(int classes) {
  Options options;
  options.classes = classes;
  options.bootstrap_draws = 25;
  return options;
}

Accumulator accumulate(const Set& set, const Options& options, size_t begin = 0, size_t end = 1000) {
  Accumulator accumulator(options);
  for (size_t i = begin; i < std::min(end, set.truth.size()); ++i) {
    const std::vector<float> confidence =
        test::probabilities(1, static_cast<int>(i), set.prediction[i], options.classes);
    accumulator.add(
        score_image("image " + std::to_string(i), set.truth[i], set.prediction[i], options, {{}, confidence}));
  }
  return accumulator;
}

}  // namespace

TEST(MetricProperties, PerfectPredictionScoresAHundred) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Set set = random_set(seed, 6);
    for (size_t i = 0; i < set.truth.size(); ++i) set.prediction[i] = image::fill_void(set.truth[i]);
    const Metrics m = accumulate(set, small_options(6)).finish();
    for (const auto value : {m.miou, m.mdice, m.pixel_accuracy, m.mean_accuracy, m.boundary_f1, m.boundary_iou}) {
      ASSERT_TRUE(value);
      EXPECT_DOUBLE_EQ(*value, 100) << seed;
    }
    if (m.small_object_recall) {
      EXPECT_DOUBLE_EQ(*m.small_object_recall, 100);
    }
    EXPECT_DOUBLE_EQ(m.ci95.at("miou").low, 100);
  }
}

TEST(MetricProperties, PermutedClassesPermuteTheTable) {
  constexpr std::array<uint8_t, 6> kOrder = {0, 3, 5, 1, 2, 4};  // background stays: shapes are of the foreground
  const Set set = random_set(77, 6);
  Set renamed = set;
  for (auto* masks : {&renamed.truth, &renamed.prediction}) {
    for (image::Mask& mask : *masks) {
      for (uint8_t& label : mask.labels) label = label == 255 ? label : kOrder[label];
    }
  }
  Options options = small_options(6);
  // Void ties go to the smallest label, which renaming changes: only tie-free numbers are compared exactly.
  for (size_t i = 0; i < set.truth.size(); ++i) {
    const ImageScores a = score_image("x", set.truth[i], set.prediction[i], options);
    const ImageScores b = score_image("x", renamed.truth[i], renamed.prediction[i], options);
    EXPECT_DOUBLE_EQ(a.compactness.sum, b.compactness.sum);
    EXPECT_DOUBLE_EQ(a.edge_regularity.sum, b.edge_regularity.sum);
    EXPECT_EQ(a.small_objects_found, b.small_objects_found);
    ASSERT_EQ(a.classes.size(), b.classes.size());
  }
  const Metrics a = accumulate(set, options).finish(), b = accumulate(renamed, options).finish();
  for (size_t label = 0; label < 6; ++label) {
    const ClassRow &one = a.per_class[label], &other = b.per_class[kOrder[label]];
    EXPECT_EQ(one.iou, other.iou);
    EXPECT_EQ(one.dice, other.dice);
    EXPECT_EQ(one.pixels, other.pixels);
    for (size_t column = 0; column < 6; ++column) {
      EXPECT_EQ(a.confusion[label][column], b.confusion[kOrder[label]][kOrder[column]]);
    }
  }
  EXPECT_NEAR(*a.miou, *b.miou, 1e-12);
}

TEST(MetricProperties, NumbersStayInTheirRange) {
  for (uint64_t seed = 100; seed < 130; ++seed) {
    const Metrics m =
        accumulate(random_set(seed, 1 + static_cast<int>(seed % 9)), small_options(1 + static_cast<int>(seed % 9)))
            .finish();
    EXPECT_LE(*m.miou, *m.mdice);
    for (const ClassRow& row : m.per_class) {
      if (row.iou) {
        EXPECT_LE(*row.iou, *row.dice);
        EXPECT_LE(*row.iou, *row.accuracy);
      }
    }
    for (const HeadlineField& field : kHeadline) {
      const auto value = m.*field.value;
      if (!value) continue;
      EXPECT_TRUE(std::isfinite(*value)) << field.name;
      EXPECT_LE(*value, field.percent ? 100 : field.name == "nll" ? 28 : 2) << field.name;
      EXPECT_GE(*value, field.name == "tv_smoothness" ? -1 : 0) << field.name;
      const Interval interval = m.ci95.at(std::string(field.name));
      EXPECT_LE(interval.low, interval.high);
      EXPECT_TRUE(std::isfinite(interval.low) && std::isfinite(interval.high));
    }
  }
}

TEST(MetricProperties, MergedHalvesEqualOnePassBitForBit) {
  const Set set = random_set(5, 7, 31);
  const Options options = small_options(7);
  const Metrics whole = accumulate(set, options).finish(1);
  for (const size_t cut : {size_t{0}, size_t{1}, size_t{13}, size_t{31}}) {
    Accumulator late = accumulate(set, options, cut);
    late.merge(accumulate(set, options, 0, cut));
    EXPECT_EQ(late.finish(3), whole) << cut;
  }
}

TEST(MetricProperties, DiskAndDistanceTransformAgree) {
  // Tolerances up to 8 search a disk, larger ones use the distance transform; here the transform checks the disk.
  Rng random(9);
  for (int n = 0; n < 20; ++n) {
    const image::Mask truth = random_mask(random, 50, 40, 4, false), prediction = random_mask(random, 50, 40, 4, false);
    for (const double tolerance : {0.0, 1.0, 1.5, 2.0, 3.7, 8.0}) {
      const auto matches = match_boundaries(truth, prediction, tolerance);
      for (uint8_t label = 0; label < 4; ++label) {
        const auto edge = [&](const image::Mask& mask) {
          image::Mask out(mask.width, mask.height);
          for (int y = 0; y < mask.height; ++y) {
            for (int x = 0; x < mask.width; ++x) {
              if (mask.row(y)[x] != label) continue;
              out.row(y)[x] = (x > 0 && mask.row(y)[x - 1] != label) || (y > 0 && mask.row(y - 1)[x] != label) ||
                              (x + 1 < mask.width && mask.row(y)[x + 1] != label) ||
                              (y + 1 < mask.height && mask.row(y + 1)[x] != label);
            }
          }
          return out;
        };
        const image::Mask a = edge(truth), b = edge(prediction);
        const std::vector<int32_t> to_b = image::squared_distance(b);
        int64_t count = 0, matched = 0;
        for (size_t i = 0; i < to_b.size(); ++i) {
          if (a.labels[i] == 0) continue;
          ++count;
          matched += to_b[i] <= tolerance * tolerance;
        }
        EXPECT_EQ(matches[label].truth, count);
        EXPECT_EQ(matches[label].truth_matched, matched) << "tolerance " << tolerance;
      }
    }
  }
}

TEST(MetricProperties, MeanIouAloneIsTheSameNumber) {
  const Set set = random_set(8, 5);
  Options options = small_options(5), plain = options;
  plain.boundary = plain.shape = plain.small_objects = false;
  const Metrics all = accumulate(set, options).finish(), few = accumulate(set, plain).finish();
  EXPECT_EQ(all.miou, few.miou);
  EXPECT_EQ(all.ci95.at("miou"), few.ci95.at("miou"));
  for (const auto value :
       {few.boundary_f1, few.boundary_iou, few.compactness, few.tv_smoothness, few.small_object_recall}) {
    EXPECT_FALSE(value);
  }
}

}  // namespace crisp::metric
