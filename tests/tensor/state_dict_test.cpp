#include "crisp/tensor/state_dict.h"

#include <gtest/gtest.h>

#include "crisp/model/layers.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::mentions;

struct TwoLayers : torch::nn::Module {
  TwoLayers() {
    linear = register_module("linear", model::Linear(3, 2));
    norm = register_module("norm", torch::nn::BatchNorm2d(2));
  }
  model::Linear linear{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
};

StateDict numbers() {
  return {{"linear.weight", torch::arange(6, torch::kFloat32).view({2, 3})},
          {"linear.bias", torch::tensor({0.5f, -0.5f})},
          {"norm.weight", torch::full({2}, 2.0f)},
          {"norm.bias", torch::full({2}, 3.0f)},
          {"norm.running_mean", torch::full({2}, 4.0f)},
          {"norm.running_var", torch::full({2}, 5.0f)},
          {"norm.num_batches_tracked", torch::tensor(6)}};
}

TEST(LoadInto, CopiesParametersAndBuffers) {
  TwoLayers module;
  EXPECT_EQ(load_into(module, numbers(), "file").copied, 7);
  for (const auto& [name, tensor] : state_of(module)) EXPECT_TRUE(torch::equal(tensor, numbers().at(name))) << name;
  EXPECT_TRUE(module.linear->weight.requires_grad());
}

TEST(LoadInto, ConvertsTypes) {
  TwoLayers module;
  StateDict state = numbers();
  for (auto& [name, tensor] : state) {
    if (tensor.is_floating_point()) tensor = tensor.to(torch::kFloat16);
  }
  load_into(module, state, "file");
  EXPECT_EQ(module.linear->weight.scalar_type(), torch::kFloat32);
  EXPECT_EQ(module.linear->weight[1][2].item<float>(), 5.0f);
}

TEST(LoadInto, ListsEverythingThatDoesNotFitAndCopiesNothing) {
  TwoLayers module;
  const torch::Tensor before = module.norm->weight.detach().clone();
  StateDict state = numbers();
  state.erase("linear.bias");
  state["linear.weight"] = torch::zeros({4, 3});
  state["other"] = torch::zeros(1);
  const std::string message = error_of([&] { load_into(module, state, "some file"); });
  EXPECT_EQ(message,
            "some file: the tensors do not fit the model; 1 missing: linear.bias; 1 unexpected: other; "
            "1 of another shape: linear.weight is [4, 3] in the file and [2, 3] in the model");
  EXPECT_TRUE(torch::equal(module.norm->weight, before));
}

TEST(LoadInto, ShortensLongLists) {
  TwoLayers module;
  StateDict state = numbers();
  for (int i = 0; i < 500; ++i) state["extra" + std::to_string(i)] = torch::zeros(1);
  const std::string message = error_of([&] { load_into(module, state, "f"); });
  EXPECT_TRUE(mentions(message, "500 unexpected"));
  EXPECT_TRUE(mentions(message, "and 492 more"));
  EXPECT_LT(message.size(), 300u);
}

TEST(LoadInto, RulesAllowPrefixes) {
  TwoLayers module;
  StateDict state = numbers();
  state.erase("norm.weight");
  state["classifier.weight"] = torch::zeros(1);
  const LoadReport report =
      load_into(module, state, "f", {.may_be_missing = {"norm."}, .may_be_extra = {"classifier."}});
  EXPECT_EQ(report.copied, 6);
  EXPECT_EQ(report.missing, std::vector<std::string>{"norm.weight"});
  EXPECT_EQ(report.extra, std::vector<std::string>{"classifier.weight"});
}

TEST(LoadInto, OldFilesWithoutBatchCountsAreFine) {
  TwoLayers module;
  StateDict state = numbers();
  state.erase("norm.num_batches_tracked");
  EXPECT_EQ(load_into(module, state, "f").copied, 6);
}

}  // namespace
}  // namespace crisp::tensor
