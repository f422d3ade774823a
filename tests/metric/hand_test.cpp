// Cases small enough to work out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "crisp/image/distance.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/boundary.h"
#include "crisp/metric/contour.h"
#include "crisp/metric/score_image.h"
#include "crisp/metric/shape.h"
#include "crisp/metric/small_objects.h"

namespace crisp::metric {
namespace {

// Rows of digits; '.' is 255.
image::Mask draw(const std::vector<std::string>& rows) {
  image::Mask mask(static_cast<int>(rows[0].size()), static_cast<int>(rows.size()));
  for (size_t y = 0; y < rows.size(); ++y) {
    for (size_t x = 0; x < rows[y].size(); ++x) {
      mask.row(static_cast<int>(y))[x] = rows[y][x] == '.' ? image::kIgnore : static_cast<uint8_t>(rows[y][x] - '0');
    }
  }
  return mask;
}

Options with_classes(int classes) {
  Options options;
  options.classes = classes;
  options.bootstrap_draws = 20;
  return options;
}

Metrics evaluate(const image::Mask& truth, const image::Mask& prediction, const Options& options,
                 const Certainty& certainty = {}) {
  Accumulator accumulator(options);
  accumulator.add(score_image("one", truth, prediction, options, certainty));
  return accumulator.finish();
}

}  // namespace

TEST(MetricByHand, EmptyPrediction) {
  const Metrics m =
      evaluate(draw({"0000", "0110", "0110", "0000"}), draw({"0000", "0000", "0000", "0000"}), with_classes(2));
  EXPECT_DOUBLE_EQ(*m.miou, 100 * (12.0 / 16) / 2);  // background 12/16, object 0
  EXPECT_DOUBLE_EQ(*m.mdice, 100 * (24.0 / 28) / 2);
  EXPECT_DOUBLE_EQ(*m.pixel_accuracy, 75);
  EXPECT_DOUBLE_EQ(*m.mean_accuracy, 50);
  EXPECT_DOUBLE_EQ(*m.boundary_f1, 0);  // the object is missing; the flat background has no boundary to match
  EXPECT_DOUBLE_EQ(*m.small_object_recall, 0);
  EXPECT_DOUBLE_EQ(*m.tv_smoothness, 1);
  EXPECT_FALSE(m.compactness);  // no foreground mask
  EXPECT_FALSE(m.edge_regularity);
  EXPECT_FALSE(m.ece);
  EXPECT_FALSE(m.brier);
  EXPECT_TRUE(m.reliability.empty());
}

TEST(MetricByHand, OnePixelObject) {
  const image::Mask truth = draw({"00000", "00000", "00100", "00000", "00000"});
  const image::Mask near = draw({"00000", "00000", "00000", "00000", "00100"});
  const Metrics m = evaluate(truth, near, with_classes(2));
  EXPECT_DOUBLE_EQ(*m.per_class[1].iou, 0);
  EXPECT_DOUBLE_EQ(*m.per_class[1].boundary_f1, 100);  // two pixels away is within the tolerance
  const image::Mask far = draw({"00000", "00000", "00000", "00000", "00010"});
  EXPECT_DOUBLE_EQ(*evaluate(truth, far, with_classes(2)).per_class[1].boundary_f1, 0);  // sqrt(5) is not
}

TEST(MetricByHand, AllIgnored) {
  const Metrics m = evaluate(draw({"...", "..."}), draw({"012", "012"}), with_classes(3));
  EXPECT_EQ(m.images, 1);
  for (const HeadlineField& field : kHeadline) {
    EXPECT_EQ((m.*field.value).has_value(), field.name == "tv_smoothness") << field.name;
  }
  EXPECT_DOUBLE_EQ(*m.tv_smoothness, 1 - 4.0 / 6);  // of the prediction, which needs no truth
  EXPECT_EQ(m.per_class[0].pixels, 0);
}

TEST(MetricByHand, NoImages) {
  const Metrics m = Accumulator(with_classes(2)).finish();
  EXPECT_EQ(m.images, 0);
  for (const HeadlineField& field : kHeadline) EXPECT_FALSE(m.*field.value) << field.name;
  EXPECT_TRUE(m.ci95.empty());
}

TEST(MetricByHand, ClassAbsentFromTruthButPredicted) {
  const Metrics m = evaluate(draw({"0011"}), draw({"0211"}), with_classes(3));
  EXPECT_FALSE(m.per_class[2].iou);
  EXPECT_FALSE(m.per_class[2].boundary_f1);
  EXPECT_DOUBLE_EQ(*m.miou, 100 * (0.5 + 1) / 2);  // not divided by three
  EXPECT_EQ(m.confusion[0], (std::vector<int64_t>{1, 0, 1, 0}));
}

TEST(MetricByHand, ImageFrameIsNoBoundary) {
  const image::Mask flat = draw({"111", "111"});
  const Metrics same = evaluate(flat, flat, with_classes(2));
  EXPECT_DOUBLE_EQ(*same.boundary_f1, 100);
  EXPECT_DOUBLE_EQ(*same.boundary_iou, 100);
  const auto matches = match_boundaries(flat, flat, 2);
  EXPECT_EQ(matches[1].truth, 0);
  const auto half = match_boundaries(draw({"0011"}), draw({"0111"}), 0);
  EXPECT_EQ(half[0].truth, 1);
  EXPECT_EQ(half[0].truth_matched, 0);
  EXPECT_EQ(half[1].predicted, 1);
}

TEST(MetricByHand, PixelsWithoutAClassAreMisses) {
  const Metrics m = evaluate(draw({"0011"}), draw({"0.1."}), with_classes(2));
  EXPECT_DOUBLE_EQ(*m.pixel_accuracy, 50);
  EXPECT_DOUBLE_EQ(*m.miou, 50);
  EXPECT_EQ(m.confusion[1], (std::vector<int64_t>{0, 1, 1}));
}

TEST(MetricByHand, VoidIsFilledWithTheNearestLabelTiesToTheSmallest) {
  const image::Mask truth = draw({"2..1", "2..1", "2..1"});
  EXPECT_EQ(image::fill_void(truth).labels, draw({"2211", "2211", "2211"}).labels);
  const Metrics m = evaluate(draw({"2.1", "2.1"}), draw({"211", "211"}), with_classes(3));  // tie goes to 1
  EXPECT_DOUBLE_EQ(*m.boundary_f1, 100);
}

TEST(MetricByHand, PerimeterOfSquareLineAndPixel) {
  // 4x4 square: 8 side pixels weigh 1, corners (two side neighbours on the border) 1 as well: 12 in all.
  EXPECT_DOUBLE_EQ(perimeters(draw({"1111", "1111", "1111", "1111"}))[1], 12);
  EXPECT_DOUBLE_EQ(perimeters(draw({"000", "010", "000"}))[1], 0);
  EXPECT_DOUBLE_EQ(perimeters(draw({"10000", "01000", "00100", "00010", "00001"}))[1], 3 * std::numbers::sqrt2);
  EXPECT_DOUBLE_EQ(compactness(16, 12), 1);  // 1.396 clipped
  EXPECT_DOUBLE_EQ(compactness(100, 100), 4 * std::numbers::pi / 100);
}

TEST(MetricByHand, ContoursOfSmallMasks) {
  std::array<bool, 256> wanted{};
  wanted[1] = true;
  const auto turns = [&](const std::vector<std::string>& rows) { return contour_turns(draw(rows), wanted)[1]; };
  EXPECT_EQ(turns({"1"}).points, 0);   // 4 points
  EXPECT_EQ(turns({"11"}).points, 0);  // 6
  EXPECT_EQ(turns({"111"}).points, 8);
  EXPECT_EQ(turns({"10", "01"}).points, 0);            // two contours of 4: corners do not join
  EXPECT_EQ(turns({"111", "101", "111"}).points, 12);  // the hole's contour has 4
  EXPECT_EQ(turns({"111", "101", "111", "111"}).points, 14);
  // A 6x6 square, in half pixels from a corner: (-1, 0) sees (6, 0) turn to (1, 5), 79 degrees, and the point past
  // the corner the same; the next ones out see 45 degrees, less than 1 rad.
  const ContourTurns square = turns(std::vector<std::string>(6, "111111"));
  EXPECT_EQ(square.points, 24);
  EXPECT_EQ(square.sharp, 4 * 2);
}

TEST(MetricByHand, SmallObjectsAreComponentsOfOneClass) {
  const image::Mask truth = draw({"11000", "00100", "00022", ".1022"});
  const image::Mask half = draw({"10000", "00100", "00020", "00002"});
  const SmallObjects all = find_small_objects(truth, half, 255, 5);
  EXPECT_EQ(all.total, 3);  // the diagonal joins 11 and 1; the 1 below left is alone; 22/22
  EXPECT_EQ(all.found, 2);  // 2 of 3, 0 of 1, 2 of 4: exactly half counts
  EXPECT_EQ(find_small_objects(truth, half, 255, 4).total, 2);  // "under" four pixels
}

TEST(MetricByHand, CalibrationBins) {
  Options options = with_classes(2);
  options.ece_bins = 4;
  const std::vector<float> confidence = {0.75F, 1.0F, 0.5F, 0.1F};
  const Metrics m = evaluate(draw({"0011"}), draw({"0001"}), options, {confidence, {}});
  ASSERT_EQ(m.reliability.size(), 4u);
  EXPECT_EQ(m.reliability[3].pixels, 2);  // 0.75 opens the bin, 1 closes it
  EXPECT_DOUBLE_EQ(*m.reliability[3].confidence, 0.875);
  EXPECT_DOUBLE_EQ(*m.reliability[2].accuracy, 0);
  EXPECT_FALSE(m.reliability[1].accuracy);
  EXPECT_NEAR(*m.ece, 100 * (0.25 + 0.5 + 0.9) / 4, 1e-6);
  EXPECT_FALSE(m.brier);
}

TEST(MetricByHand, ConfidencesFallOnTheirOwnSideOfAnEdge) {
  // With 15 bins 8-bit confidences meet an edge every 17/255; with 22 and 29 the product of an edge and the number
  // of bins rounds to the wrong side, both ways.
  for (const int bins : {1, 15, 22, 29}) {
    Options options = with_classes(2);
    options.ece_bins = bins;
    for (int i = 0; i < bins; ++i) {
      const float low = static_cast<float>(i) / static_cast<float>(bins);
      const float high = static_cast<float>(i + 1) / static_cast<float>(bins);
      const std::vector<float> confidence = {low, std::nextafter(high, 0.0F)};
      const Metrics m = evaluate(draw({"00"}), draw({"00"}), options, {confidence, {}});
      EXPECT_EQ(m.reliability[static_cast<size_t>(i)].pixels, 2) << i << " of " << bins;
    }
  }
  for (int i = 0; i < 15; ++i) EXPECT_EQ(static_cast<float>(17 * i) / 255.0F, static_cast<float>(i) / 15.0F);
}

TEST(MetricByHand, BrierAndNll) {
  const std::vector<float> probabilities = {0.75F, 0.0F, 0.25F, 1.0F};  // [2, 1, 2]
  const Metrics m = evaluate(draw({"00"}), draw({"01"}), with_classes(2), {{}, probabilities});
  EXPECT_DOUBLE_EQ(*m.brier, (2 * 0.0625 + 2) / 2);
  EXPECT_DOUBLE_EQ(*m.nll, -(std::log(0.75) + std::log(1e-12)) / 2);  // finite where the model was sure and wrong
}

TEST(MetricByHand, BoundaryIouOfABand) {
  // Both masks start at the left frame; one is a column wider. Their bands are one pixel wide.
  const image::Mask a = draw({"11110", "11110", "11110", "11110"}), b = draw({"11100", "11100", "11100", "11100"});
  const auto overlap = overlap_bands(a, a, b, 255, 1);
  EXPECT_EQ(overlap[1].common, 8);            // the first column, the ends of the second and of the third
  EXPECT_EQ(overlap[1].either, 12 + 10 - 8);  // 16 pixels less a hollow of 4, 12 less one of 2
  EXPECT_EQ(band_width(320, 240, 0.02), 8);
  EXPECT_EQ(band_width(1, 1, 0.02), 1);
}

}  // namespace crisp::metric
