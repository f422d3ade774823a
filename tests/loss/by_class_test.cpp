#include <gtest/gtest.h>

#include "crisp/loss/uncertainty_weight.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

TEST(WeightByClass, EveryClassKeepsItsWeightAndUncertainPixelsOfItCountLess) {
  for (const torch::Device device : devices()) {
    const torch::Tensor labels = torch::tensor({0, 0, 1, 255}, torch::kUInt8).view({1, 2, 2}).to(device);
    const torch::Tensor weight = torch::tensor({1.0f, 0.5f, 0.25f, 0.3f}).view({1, 2, 2}).to(device);
    const loss::Pixels pixels = loss::pixels_of(labels, 3);
    const torch::Tensor got = loss::balanced_by_label(weight, pixels).cpu().flatten();
    // Means: 0.75 of label 0, 0.25 of label 1; what is ignored does not take part.
    EXPECT_NEAR(got[0].item<double>(), 1 / 0.75, 1e-6);
    EXPECT_NEAR(got[1].item<double>(), 0.5 / 0.75, 1e-6);
    EXPECT_NEAR(got[2].item<double>(), 1.0, 1e-6);
    const torch::Tensor sums = loss::sum_by_label(loss::balanced_by_label(weight, pixels) * pixels.valid, pixels).cpu();
    EXPECT_NEAR(sums[0].item<double>(), 2, 1e-6);
    EXPECT_NEAR(sums[1].item<double>(), 1, 1e-6);
    EXPECT_EQ(sums[2].item<double>(), 0);
  }
}

TEST(WeightByClass, NothingValidIsFinite) {
  const torch::Tensor labels = torch::full({1, 2, 2}, 255, torch::kUInt8);
  const torch::Tensor got = loss::balanced_by_label(torch::ones({1, 2, 2}), loss::pixels_of(labels, 3));
  EXPECT_TRUE(torch::isfinite(got).all().item<bool>());
}

}  // namespace
}  // namespace crisp::test
