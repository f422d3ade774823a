// Every loss and its gradients against an independent version (tests/goldens/loss.py), through total().
#include "crisp/loss/total.h"

#include <cmath>

#include "crisp/base/error.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

using loss::Options;
using Field = torch::Tensor loss::Outputs::*;

const std::map<std::string, Field> kFields = {{"logits", &loss::Outputs::logits},
                                              {"refined", &loss::Outputs::refined},
                                              {"variance", &loss::Outputs::variance},
                                              {"boundary", &loss::Outputs::boundary}};

// One part alone.
Options only(double Options::* part) {
  Options options{.cross_entropy = 0, .dice = 0, .heteroscedastic = 0, .boundary = 0, .surface = 0};
  options.*part = 1;
  return options;
}

Options options_of(const std::string& name) {
  const auto starts = [&](const char* with) { return name.rfind(with, 0) == 0; };
  Options options;
  if (starts("cross_entropy")) options = only(&Options::cross_entropy);
  if (starts("dice")) options = only(&Options::dice);
  if (starts("heteroscedastic")) options = only(&Options::heteroscedastic);
  if (starts("boundary")) options = only(&Options::boundary);
  if (starts("surface")) options = only(&Options::surface);
  if (name == "total_all") options.surface = 0.1;
  options.weighting = name.find("_unweighted") == std::string::npos;
  options.label_variance = name == "heteroscedastic_label";
  options.discount_boundary = name == "boundary_discounted";
  options.surface_everywhere = name == "surface_everywhere";
  if (name == "cross_entropy_minmax") options.weight.range = ops::Range::kMinMax;
  if (name == "cross_entropy_entropy") options.weight.aleatoric = false;
  if (name == "cross_entropy_aleatoric") options.weight.entropy = false;
  return options;
}

loss::Outputs outputs_of(const tensor::StateDict& golden, const torch::Device& device) {
  loss::Outputs outputs;
  for (const auto& [name, field] : kFields) {
    outputs.*field = golden.at("in." + name).clone().to(device).requires_grad_(true);
  }
  return outputs;
}

loss::Targets targets_of(const tensor::StateDict& golden, const torch::Device& device) {
  return {golden.at("in.labels").to(device), golden.at("in.band").to(device), golden.at("in.distance").to(device)};
}

class LossCases : public testing::TestWithParam<std::string> {};

TEST_P(LossCases, ValueAndGradientsAreTheIndependentVersions) {
  const std::string name = GetParam();
  const tensor::StateDict golden = read_golden("loss/losses.safetensors");
  for (const torch::Device& device : devices()) {
    loss::Outputs outputs = outputs_of(golden, device);
    const loss::Total got = loss::total(outputs, targets_of(golden, device), options_of(name));
    expect_close(name, got.sum, golden.at(name + ".value"), 1e-5);
    got.sum.backward();
    int compared = 0;
    for (const auto& [field_name, field] : kFields) {
      const auto expected = golden.find(name + ".grad." + field_name);
      const torch::Tensor gradient = (outputs.*field).grad();
      if (expected == golden.end()) {
        EXPECT_TRUE(!gradient.defined() || gradient.abs().max().item<float>() == 0) << field_name;
        continue;
      }
      expect_close(name + " by " + field_name, gradient, expected->second, 1e-5);
      ++compared;
    }
    EXPECT_GE(compared, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, LossCases,
                         testing::Values("cross_entropy", "cross_entropy_unweighted", "cross_entropy_minmax",
                                         "cross_entropy_entropy", "cross_entropy_aleatoric", "dice", "dice_unweighted",
                                         "heteroscedastic", "heteroscedastic_label", "boundary", "boundary_discounted",
                                         "surface", "surface_everywhere", "total", "total_all"),
                         [](const auto& name) { return name.param; });

TEST(UncertaintyWeight, IsTheIndependentVersions) {
  const tensor::StateDict golden = read_golden("loss/losses.safetensors");
  const torch::Tensor refined = golden.at("in.refined").clone().requires_grad_(true);
  const torch::Tensor variance = golden.at("in.variance");
  const torch::Tensor map = loss::uncertainty_map(refined, variance);
  EXPECT_FALSE(map.requires_grad());
  expect_close("U", map, golden.at("uncertainty.percentiles"), 1e-5);
  expect_close("U, min-max", loss::uncertainty_map(refined, variance, {.range = ops::Range::kMinMax}),
               golden.at("uncertainty.minmax"), 1e-5);
  expect_close("w", loss::uncertainty_weight(map, 37, 44).narrow(0, 0, 1), golden.at("uncertainty.weight"), 1e-5);
  EXPECT_FALSE(loss::uncertainty_map(refined, {}, {.entropy = false}).defined()) << "no source is left";
}

TEST(Total, IsTheWeightedSumOfItsParts) {
  const tensor::StateDict golden = read_golden("loss/losses.safetensors");
  const loss::Outputs outputs = outputs_of(golden, torch::kCPU);
  const Options options{.cross_entropy = 0.7, .dice = 0.3, .heteroscedastic = 0.2, .boundary = 0.9, .surface = 0.4};
  const loss::Total got = loss::total(outputs, targets_of(golden, torch::kCPU), options);
  const std::map<std::string, double> weights = {
      {"cross_entropy", 0.7}, {"dice", 0.3}, {"heteroscedastic", 0.2}, {"boundary", 0.9}, {"surface", 0.4}};
  ASSERT_EQ(got.parts.size(), weights.size());
  double sum = 0;
  for (const loss::Part& part : got.parts) {
    EXPECT_FALSE(part.value.requires_grad());
    EXPECT_NEAR(part.value.item<double>(), golden.at(part.name + ".value").item<double>(), 1e-4) << part.name;
    sum += weights.at(part.name) * part.value.item<double>();
  }
  EXPECT_NEAR(got.sum.item<double>(), sum, 1e-5);
}

TEST(Total, LeavesOutWhatTheNetworkDoesNotHave) {
  const tensor::StateDict golden = read_golden("loss/losses.safetensors");
  const loss::Outputs all = outputs_of(golden, torch::kCPU);
  const loss::Total got = loss::total({.refined = all.refined}, {.labels = golden.at("in.labels")});
  ASSERT_EQ(got.parts.size(), 2u);  // the row without variance, refiner and boundary head
  const double weighted = golden.at("cross_entropy_entropy.value").item<double>();
  EXPECT_NEAR(got.parts[0].value.item<double>(), weighted, 1e-5) << "U is the entropy alone";
}

TEST(Total, UnrefinedLogitsShareTheirCrossEntropy) {
  const tensor::StateDict golden = read_golden("loss/losses.safetensors");
  loss::Outputs outputs = outputs_of(golden, torch::kCPU);
  const loss::Targets targets = targets_of(golden, torch::kCPU);
  outputs.refined = outputs.logits;
  loss::Outputs apart = outputs;
  apart.refined = outputs.logits * 1;  // the same numbers in another tensor
  const loss::Total one = loss::total(outputs, targets);
  one.sum.backward();
  const torch::Tensor gradient = outputs.logits.grad().clone();
  outputs.logits.mutable_grad().zero_();
  const loss::Total two = loss::total(apart, targets);
  two.sum.backward();
  expect_close("sum", one.sum, two.sum, 1e-6);
  expect_close("gradient", gradient, outputs.logits.grad(), 1e-5);
}

// Pixels near an edge count more, others less, all of them as much as before.
TEST(Total, PixelsNearEdgesCountMore) {
  torch::manual_seed(4);
  Options options = only(&Options::cross_entropy);
  options.weighting = false;
  options.edges = 3;
  options.edge_reach = 2;
  loss::Targets targets;
  targets.labels = torch::zeros({1, 1, 6}, torch::kByte);
  targets.labels[0][0].slice(0, 2).fill_(1);
  targets.labels[0][0][5] = 255;
  const torch::Tensor logits = torch::randn({1, 2, 1, 6}).requires_grad_(true);
  EXPECT_THROW(loss::total({.refined = logits}, targets, options), Error);
  targets.distance =
      torch::tensor({1.f, 0.f, 0.f, 1.f, 2.f, 3.f}).view({1, 1, 6}) / 32;  // the edge is after the second

  const torch::Tensor plain =
      torch::cross_entropy_loss(logits, targets.labels.to(torch::kLong), {}, at::Reduction::None, 255);
  const torch::Tensor weight = torch::tensor({4.f, 4.f, 4.f, 4.f, 1.f, 0.f}).view({1, 1, 6}) * 5 / 17;
  const torch::Tensor expected = (plain * weight).sum() / 5;
  const torch::Tensor got = loss::total({.refined = logits}, targets, options).sum;
  expect_close("value", got, expected, 1e-6);
  got.backward();
  const torch::Tensor gradient = logits.grad().clone();
  logits.mutable_grad().zero_();
  expected.backward();
  expect_close("gradient", gradient, logits.grad(), 1e-5);

  targets.distance.fill_(1);  // no edge anywhere: as if the option were off
  const torch::Tensor far = loss::total({.refined = logits}, targets, options).sum;
  options.edges = 0;
  expect_close("no edge", far, loss::total({.refined = logits}, targets, options).sum, 1e-6);
  options.edges = 3;
  targets.labels.fill_(255);
  EXPECT_EQ(loss::total({.refined = logits}, targets, options).sum.item<float>(), 0);
  for (const double reach : {0.0, 32.0, std::nan("")}) {
    options.edge_reach = reach;
    EXPECT_THROW(loss::check(options), UsageError);
  }
}

TEST(Total, SaysWhatDoesNotFit) {
  const tensor::StateDict golden = read_golden("loss/losses.safetensors");
  const loss::Outputs outputs = outputs_of(golden, torch::kCPU);
  loss::Targets targets = targets_of(golden, torch::kCPU);
  const auto error = [&](const Options& options) { return error_of([&] { loss::total(outputs, targets, options); }); };
  targets.band = torch::Tensor();
  EXPECT_NE(error({}).find("the boundary loss is on but its target"), std::string::npos);
  EXPECT_EQ(error({.boundary = 0}), "no error");
  targets.labels = targets.labels.narrow(0, 0, 2);
  EXPECT_NE(error({.boundary = 0}).find("labels of the loss is [2, 37, 44], expected [3, -1, -1]"), std::string::npos);
  EXPECT_THROW(loss::check(Options{.dice = -1}), UsageError);
}

}  // namespace
}  // namespace crisp::test
