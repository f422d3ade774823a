// Maps spread over what the encoder finds alike.
#include "crisp/seed/similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "crisp/base/error.h"

namespace crisp::test {
namespace {

// Features [2, 4, 4]: one colour on the left half, another on the right.
torch::Tensor halves() {
  torch::Tensor map = torch::zeros({2, 4, 4});
  map[0].narrow(1, 0, 2).fill_(1);
  map[1].narrow(1, 2, 2).fill_(1);
  return map;
}

TEST(Similarity, OneCellLightsUpItsHalf) {
  torch::Tensor maps = torch::zeros({1, 4, 4});
  maps[0][1][0] = 5;
  const torch::Tensor spread = seed::spread_over_similar(maps, {halves(), halves(), halves()}, {});
  EXPECT_NEAR(spread[0].narrow(1, 0, 2).min().item<double>(), 1, 1e-3);
  EXPECT_NEAR(spread[0].narrow(1, 2, 2).abs().max().item<double>(), 0, 1e-6);
}

// The formula in the header, cell by cell in double precision.
TEST(Similarity, IsTheFormula) {
  torch::manual_seed(3);
  constexpr int64_t kRows = 3, kColumns = 5, kCells = kRows * kColumns;
  const std::vector<torch::Tensor> features = {torch::randn({4, kRows, kColumns}), torch::randn({7, kRows, kColumns}),
                                               torch::randn({3, kRows, kColumns})};
  const torch::Tensor maps = torch::rand({2, kRows, kColumns});
  std::vector<double> alike(kCells * kCells);
  for (const torch::Tensor& feature : features) {
    const torch::Tensor f = feature.to(torch::kDouble).flatten(1);
    const int64_t channels = f.size(0);
    const auto value = [&](int64_t c, int64_t cell) {
      double mean = 0;
      for (int64_t j = 0; j < kCells; ++j) mean += f[c][j].item<double>() / kCells;
      return f[c][cell].item<double>() - mean;
    };
    for (int64_t i = 0; i < kCells; ++i) {
      for (int64_t j = 0; j < kCells; ++j) {
        double product = 0, a = 0, b = 0;
        for (int64_t c = 0; c < channels; ++c) {
          product += value(c, i) * value(c, j);
          a += value(c, i) * value(c, i);
          b += value(c, j) * value(c, j);
        }
        alike[static_cast<size_t>(i * kCells + j)] += product / std::sqrt(a * b) / 3;
      }
    }
  }
  torch::Tensor expected = maps.to(torch::kDouble).flatten(1).clone();
  const auto stretch = [&] {
    for (int64_t t = 0; t < 2; ++t) {
      const double low = expected[t].min().item<double>(), high = expected[t].max().item<double>();
      expected[t] = (expected[t] - low) / (high - low + 1e-5);
    }
  };
  for (int round = 0; round < 2; ++round) {
    stretch();
    torch::Tensor next = torch::zeros_like(expected);
    for (int64_t t = 0; t < 2; ++t) {
      for (int64_t i = 0; i < kCells; ++i) {
        double sum = 0, weights = 0;
        for (int64_t j = 0; j < kCells; ++j) {
          const double a = std::pow(std::max(0.0, alike[static_cast<size_t>(i * kCells + j)]), 4);
          sum += a * expected[t][j].item<double>();
          weights += a;
        }
        next[t][i] = sum / weights;
      }
    }
    expected = next;
  }
  stretch();
  const torch::Tensor spread = seed::spread_over_similar(maps, features, {.power = 4, .rounds = 2});
  EXPECT_LT((spread.flatten(1).to(torch::kDouble) - expected).abs().max().item<double>(), 1e-4);
}

TEST(Similarity, FeaturesThatSayNothingChangeNothing) {
  const torch::Tensor flat = torch::ones({3, 4, 4});
  const torch::Tensor maps = torch::rand({2, 4, 4});
  const torch::Tensor spread = seed::spread_over_similar(maps, {flat, flat, flat}, {});
  EXPECT_LT((spread - seed::stretched(maps)).abs().max().item<double>(), 1e-4);
  EXPECT_TRUE(seed::spread_over_similar(torch::zeros({1, 4, 4}), {flat, flat, flat}, {}).eq(0).all().item<bool>());
}

TEST(Similarity, TheGridIsThatOfTheSecondFeatureAndNotTooFine) {
  const std::vector<torch::Tensor> features = {torch::randn({2, 20, 40}), torch::randn({2, 10, 20}),
                                               torch::randn({2, 5, 10})};
  const torch::Tensor maps = torch::rand({1, 80, 160});
  EXPECT_EQ(seed::spread_over_similar(maps, features, {}).sizes(), (torch::IntArrayRef{1, 10, 20}));
  const torch::Tensor coarse = seed::spread_over_similar(maps, features, {.cells = 50});
  EXPECT_EQ(coarse.sizes(), (torch::IntArrayRef{1, 5, 10}));
}

TEST(Similarity, OptionsAreChecked) {
  EXPECT_THROW(seed::check(seed::SimilarityOptions{.power = -1}), UsageError);
  EXPECT_THROW(seed::check(seed::SimilarityOptions{.rounds = 0}), UsageError);
  EXPECT_FALSE(seed::SimilarityOptions{.power = 0}.on());
}

}  // namespace
}  // namespace crisp::test
