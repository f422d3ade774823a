// The layer that says tags, against scikit-learn.
#include "crisp/train/tag_regression.h"

#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

TEST(TagRegression, FindsScikitLearnsMinimum) {
  const tensor::StateDict golden = read_golden("train/tag_regression.safetensors");
  const torch::Tensor features = golden.at("features");
  const train::TagLayer layer = train::learn_tags(features, golden.at("tags"));
  expect_close("weight", layer.weight, golden.at("weight"), 1e-3);
  expect_close("bias", layer.bias, golden.at("bias"), 1e-3);
  expect_close("logits", torch::linear(features, layer.weight, layer.bias), golden.at("logits"), 1e-3);
  EXPECT_FALSE(layer.weight.requires_grad());
}

// A feature that is nearly the same in all photos learned from: ten times as much of it may not decide alone.
TEST(TagRegression, WhatHardlyStirsDoesNotShout) {
  const tensor::StateDict golden = read_golden("train/tag_regression.safetensors");
  const train::TagLayer layer = train::learn_tags(golden.at("features"), golden.at("tags"));
  const torch::Tensor last = layer.weight.select(1, 7).abs().max(), most = layer.weight.abs().max();
  EXPECT_GT(golden.at("features").select(1, 7).std().item<double>(), 0);
  EXPECT_LT(last.item<double>(), 0.1 * most.item<double>());
  EXPECT_NEAR(layer.weight.select(1, 6).abs().max().item<double>(), 0, 1e-4) << "it is the same everywhere";
}

TEST(TagRegression, ClassesThatNobodyOrEverybodyHasStayFinite) {
  torch::manual_seed(3);
  const torch::Tensor features = torch::randn({20, 4});
  torch::Tensor tags = torch::zeros({20, 2});
  tags.select(1, 1).fill_(1);
  const train::TagLayer layer = train::learn_tags(features, tags);
  const torch::Tensor said = torch::linear(features, layer.weight, layer.bias);
  EXPECT_TRUE(torch::isfinite(said).all().item<bool>());
  EXPECT_LT(said.select(1, 0).max().item<double>(), -3) << "nobody has it";
  EXPECT_GT(said.select(1, 1).min().item<double>(), 3) << "everybody has it";
  EXPECT_EQ(error_of([&] { train::learn_tags(features, tags.narrow(0, 0, 19)); }),
            "20 photos have features and 19 have tags");
}

}  // namespace
}  // namespace crisp::test
