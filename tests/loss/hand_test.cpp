// The losses on a handful of pixels, worked with pencil and paper.
#include <cmath>

#include "crisp/loss/boundary.h"
#include "crisp/loss/heteroscedastic.h"
#include "crisp/loss/segmentation.h"
#include "crisp/loss/surface.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

torch::Tensor map_row(std::vector<float> values) { return torch::tensor(values).view({1, 1, -1}); }
torch::Tensor label_row(std::vector<int64_t> values) { return torch::tensor(values).to(torch::kByte).view({1, 1, -1}); }

double number(const torch::Tensor& value) { return value.item<double>(); }

TEST(ByHand, CrossEntropyDividesByPixelsAndNotByWeights) {
  const loss::Pixels pixels = loss::pixels_of(label_row({0, 2, 255, 1}), 3);
  const torch::Tensor entropy = map_row({1, 2, 100, 4}), weight = map_row({0.5f, 1, 1, 0.25f});
  EXPECT_NEAR(number(loss::weighted_cross_entropy(entropy, pixels, {})), 7.0 / 3, 1e-6);
  EXPECT_NEAR(number(loss::weighted_cross_entropy(entropy, pixels, weight)), 3.5 / 3, 1e-6);
}

TEST(ByHand, PixelsKnowTheirClassAndNumbersThatAreNoneAreIgnored) {
  const loss::Pixels pixels = loss::pixels_of(label_row({0, 2, 3, 254, 255}), 3);
  EXPECT_TRUE(torch::equal(pixels.valid, map_row({1, 1, 0, 0, 0})));
  const torch::Tensor p = torch::log(torch::tensor({0.5f, 0.25f, 0.25f}).view({1, 3, 1, 1}).expand({1, 3, 1, 5}));
  const torch::Tensor entropy = loss::pixel_cross_entropy(p, pixels);
  EXPECT_NEAR(number(entropy[0][0][0]), std::log(2), 1e-6);
  EXPECT_NEAR(number(entropy[0][0][1]), std::log(4), 1e-6);
  expect_close("sums", loss::sum_by_label(map_row({5, 7, 0, 0, 0}), pixels), torch::tensor({5.0f, 0.0f, 7.0f}));
}

TEST(ByHand, DiceCountsClassesThatArePresent) {
  // Two pixels, labels 0 and 1; class 2 is predicted but present nowhere.
  const loss::Pixels pixels = loss::pixels_of(label_row({0, 1, 255}), 3);
  const torch::Tensor p = torch::tensor({0.5f, 0.25f, 0.0f,   //
                                         0.25f, 0.75f, 0.0f,  //
                                         0.25f, 0.0f, 1.0f})
                              .view({1, 3, 1, 3});
  const torch::Tensor of_label = map_row({0.5f, 0.75f, 0});
  const double zero = 1 - (2 * 0.5 + 1) / (0.75 + 1 + 1), one = 1 - (2 * 0.75 + 1) / (1 + 1 + 1.0);
  EXPECT_NEAR(number(loss::soft_dice(p, of_label, pixels, {})), (zero + one) / 2, 1e-6);
  // Half a weight on the second pixel.
  const double zero_w = 1 - (2 * 0.5 + 1) / (0.5 + 0.125 + 1 + 1);
  const double one_w = 1 - (2 * 0.375 + 1) / (0.25 + 0.375 + 0.5 + 1);
  EXPECT_NEAR(number(loss::soft_dice(p, of_label, pixels, map_row({1, 0.5f, 1}))), (zero_w + one_w) / 2, 1e-6);
}

TEST(ByHand, HeteroscedasticIsLeastWhereVarianceIsTheError) {
  const loss::Pixels pixels = loss::pixels_of(label_row({0, 1, 255}), 2);
  const torch::Tensor entropy = map_row({2, 3, 50});
  const torch::Tensor value = loss::heteroscedastic(entropy, map_row({1, 4, 1}), pixels);
  EXPECT_NEAR(number(value), ((1 + 0) + (3.0 / 8 + 0.5 * std::log(4))) / 2, 1e-6);
  torch::Tensor sigma2 = map_row({2, 3, 7}).requires_grad_(true);  // d/ds of CE/(2s) + log(s)/2 is 0 at s = CE
  loss::heteroscedastic(entropy, sigma2, pixels).backward();
  EXPECT_NEAR(sigma2.grad().abs().max().item<double>(), 0, 1e-7);
}

TEST(ByHand, VarianceIsTheMeanOrTheLabels) {
  const loss::Pixels pixels = loss::pixels_of(label_row({0, 1}), 2);
  const torch::Tensor variance = torch::tensor({1.0f, 2.0f, 5.0f, 8.0f}).view({1, 2, 1, 2});
  expect_close("mean", loss::mean_variance(variance, pixels), map_row({3, 5}));
  expect_close("label", loss::label_variance(variance, pixels), map_row({1, 8}));
}

TEST(ByHand, BoundaryIsCrossEntropyAndDiceOnKnownPixels) {
  const torch::Tensor logits = map_row({0, static_cast<float>(std::log(3)), 9}), band = label_row({0, 1, 255});
  const double entropy = (std::log(2) + std::log(4.0 / 3)) / 2;  // s = 1/2 and 3/4
  const double dice = 1 - (2 * 0.75 + 1) / (0.5 + 0.75 + 1 + 1);
  EXPECT_NEAR(number(loss::boundary(logits, band, {})), entropy + dice, 1e-6);
  const double entropy_w = (0.5 * std::log(2) + std::log(4.0 / 3)) / 2;
  const double dice_w = 1 - (2 * 0.75 + 1) / (0.25 + 0.75 + 1 + 1);
  EXPECT_NEAR(number(loss::boundary(logits, band, map_row({0.5f, 1, 1}))), entropy_w + dice_w, 1e-6);
}

TEST(ByHand, SurfaceCostsChangeFarFromEdges) {
  // One row of four pixels, two classes; P changes by 0.5 at the edge, where it is free, and by 0.25 one further.
  const torch::Tensor foreground = torch::tensor({0.0f, 0.5f, 0.75f, 0.75f});
  const torch::Tensor p = torch::stack({1 - foreground, foreground}).view({1, 2, 1, 4});
  const torch::Tensor distance = map_row({0, 0.5f, 1, 1});
  EXPECT_NEAR(number(loss::surface(p, distance, {})), 2 * 0.25 * 0.5 / 4, 1e-6);
  EXPECT_NEAR(number(loss::surface(p, distance, map_row({1, 1, 1, 0}))), 2 * 0.25 * 0.5 / 3, 1e-6);
  // A second image without an edge is left out of both sums.
  const torch::Tensor two = torch::cat({distance, torch::ones({1, 1, 4})});
  EXPECT_NEAR(number(loss::surface(torch::cat({p, p}), two, {})), 2 * 0.25 * 0.5 / 4, 1e-6);
  EXPECT_EQ(number(loss::surface(p, torch::ones({1, 1, 4}), {})), 0);
}

}  // namespace
}  // namespace crisp::test
