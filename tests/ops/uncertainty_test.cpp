// Uncertainty maps: entropy, normalisation of each image by itself, their mixture.
#include "crisp/ops/uncertainty.h"

#include "crisp/base/error.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

TEST(Uncertainty, EntropyIsZeroWhenSureAndOneWhenAllClassesAreAlike) {
  const torch::Tensor sure = torch::log_softmax(torch::tensor({1e4f, 0.0f, -1e4f}).view({3, 1, 1}), 0);
  EXPECT_EQ(ops::relative_entropy(sure).item<float>(), 0);
  EXPECT_NEAR(ops::relative_entropy(torch::log_softmax(torch::zeros({7, 2, 2}), 0))[0][0].item<double>(), 1, 1e-6);
  EXPECT_EQ(ops::relative_entropy(torch::zeros({2, 1, 3, 3})).abs().max().item<float>(), 0) << "a single class";
}

TEST(Uncertainty, NormalisesBetweenPercentilesAndCallsFlatMapsCertain) {
  for (const torch::Device& device : devices()) {
    const torch::Tensor ramp = torch::arange(1000, torch::kFloat).view({20, 50}).to(device);
    const torch::Tensor scaled = ops::normalise_maps(ramp).flatten().cpu();
    EXPECT_EQ(scaled[9].item<float>(), 0);  // rank floor(0.01 * 999)
    EXPECT_GT(scaled[10].item<float>(), 0);
    EXPECT_EQ(scaled[989].item<float>(), 1);  // rank floor(0.99 * 999)
    EXPECT_LT(scaled[988].item<float>(), 1);
    EXPECT_NEAR(scaled[499].item<float>(), 0.5, 1e-6);
    const torch::Tensor extremes = ops::normalise_maps(ramp, ops::Range::kMinMax);
    expect_close("between extremes", extremes, ramp / 999, 1e-6);
  }
}

TEST(Uncertainty, EveryMapOfABatchStandsAlone) {
  torch::manual_seed(2);
  const torch::Tensor maps = torch::rand({3, 2, 9, 11});
  maps[1][0].fill_(3);
  maps[1][1].copy_(3 + 7e-7 * torch::rand({9, 11}));  // flat but for rounding
  ASSERT_GT((maps[1][1] - 3).abs().max().item<float>(), 0);
  for (const ops::Range range : {ops::Range::kPercentiles, ops::Range::kMinMax}) {
    const torch::Tensor all = ops::normalise_maps(maps, range);
    EXPECT_EQ(all[1].abs().max().item<float>(), 0);
    for (const int64_t n : {0, 2}) {
      for (const int64_t c : {0, 1}) EXPECT_TRUE(torch::equal(all[n][c], ops::normalise_maps(maps[n][c], range)));
    }
  }
}

TEST(Uncertainty, MixtureIsTheMeanOfTheSourcesThereAre) {
  const torch::Tensor a = torch::tensor({{0.0f, 1.0f}, {2.0f, 4.0f}}), b = torch::tensor({{9.0f, 9.0f}, {9.0f, 8.0f}});
  const auto mixed = [](std::vector<torch::Tensor> maps) {
    return ops::mixed_uncertainty(maps, ops::Range::kMinMax).flatten();
  };
  expect_close("both", mixed({a, b}), torch::tensor({0.5f, 0.625f, 0.75f, 0.5f}));
  expect_close("one", mixed({torch::Tensor(), a}), torch::tensor({0.0f, 0.25f, 0.5f, 1.0f}));
  expect_close("three", mixed({a, a, b}), torch::tensor({1.0f, 1.5f, 2.0f, 2.0f}) / 3);
  EXPECT_THROW(ops::mixed_uncertainty({torch::Tensor()}), Error);
}

}  // namespace
}  // namespace crisp::test
