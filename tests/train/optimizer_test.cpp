// Learning rates, AdamW against torch.optim.AdamW, the running mean, checkpoints.
#include "crisp/base/error.h"
#include "crisp/train/adamw.h"
#include "crisp/train/checkpoint.h"
#include "crisp/train/ema.h"
#include "crisp/train/schedule.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

using train::AdamW;
using train::ParameterGroup;

double factor(const std::string& decay, int64_t step, int64_t steps = 100, int64_t per_epoch = 10, double power = 1) {
  return train::rate_factor({.decay = decay, .power = power}, {.step = step, .steps = steps}, per_epoch);
}

TEST(Schedule, HandValues) {
  // One epoch of ten steps rises from a hundredth, then 90 steps fall.
  EXPECT_DOUBLE_EQ(factor("linear", 0), 0.01);
  EXPECT_DOUBLE_EQ(factor("linear", 5), 0.505);
  EXPECT_DOUBLE_EQ(factor("linear", 10), 1);
  EXPECT_DOUBLE_EQ(factor("linear", 55), 0.5);
  EXPECT_NEAR(factor("linear", 99), 1.0 / 90, 1e-12);
  EXPECT_NEAR(factor("poly", 55, 100, 10, 0.9), 0.5358867312681466, 1e-12);
  EXPECT_NEAR(factor("cosine", 40), 0.75, 1e-12);
  EXPECT_DOUBLE_EQ(factor("constant", 99), 1);
  EXPECT_DOUBLE_EQ(factor("constant", 3), 0.01 + 0.99 * 0.3);
}

TEST(Schedule, WarmUpTakesAtMostAFifthOfAShortRun) {
  EXPECT_DOUBLE_EQ(factor("linear", 1, 10, 10), 0.505);
  EXPECT_DOUBLE_EQ(factor("linear", 2, 10, 10), 1);
  EXPECT_DOUBLE_EQ(factor("linear", 0, 1, 1), 1) << "a single step trains at the full rate";
  EXPECT_DOUBLE_EQ(train::rate_factor({.warmup_epochs = 0}, {.step = 0, .steps = 50}, 10), 1);
}

TEST(Schedule, MistakesAreNamed) {
  EXPECT_THROW(train::check(train::ScheduleOptions{.decay = "step"}), UsageError);
  EXPECT_THROW(train::check(train::ScheduleOptions{.power = 0}), UsageError);
  EXPECT_THROW(train::check(train::ScheduleOptions{.warmup_epochs = -1}), UsageError);
  EXPECT_NE(error_of([] { train::parse_decay("step"); }).find("constant, linear, poly, cosine"), std::string::npos);
}

// The golden's parameters as two groups of ours, in the order the golden names them.
struct Golden {
  tensor::StateDict tensors = read_golden("train/adamw.safetensors");
  std::vector<ParameterGroup> groups = {{.name = "a", .parameters = {}, .rate = 0.02, .weight_decay = 0.3},
                                        {.name = "b", .parameters = {}, .rate = 0.004, .weight_decay = 0.1}};
  Golden() {
    for (const char* name : {"a.weight", "a.bias", "b.weight", "b.scale"}) {
      groups[name[0] == 'a' ? 0 : 1].parameters.emplace_back(
          name, tensors.at(std::string("start.") + name).clone().requires_grad_());
    }
  }
  void set_gradients(int step) {
    for (ParameterGroup& group : groups) {
      for (auto& [name, parameter] : group.parameters) {
        parameter.mutable_grad().reset();
        const auto found = tensors.find(fmt::format("grad.{}.{}", step, name));
        if (found != tensors.end()) parameter.mutable_grad() = found->second.clone();
      }
    }
  }
};

const torch::Tensor kGo = torch::zeros({});
const torch::Tensor kSkip = torch::ones({});

TEST(AdamW, TenStepsAgreeWithTorch) {
  Golden golden;
  AdamW optimizer(golden.groups);
  for (int step = 0; step < 10; ++step) {
    golden.set_gradients(step);
    const torch::Tensor norm = optimizer.clip(2);
    expect_close(fmt::format("norm {}", step), norm, golden.tensors.at(fmt::format("norm.{}", step)), 1e-6);
    optimizer.step(golden.tensors.at(fmt::format("factor.{}", step)).item<double>(), kGo);
    for (const ParameterGroup& group : golden.groups) {
      for (const auto& [name, parameter] : group.parameters) {
        const std::string what = fmt::format("after.{}.{}", step, name);
        expect_close(what, parameter, golden.tensors.at(what), 2e-6);
      }
    }
  }
  EXPECT_EQ(optimizer.state().at("count.a.bias").item<float>(), 10);
  EXPECT_EQ(optimizer.state().at("count.b.weight").item<float>(), 8) << "two steps had no gradient";
}

TEST(AdamW, ASkippedStepLeavesEverythingAlone) {
  Golden golden;
  AdamW optimizer(golden.groups);
  golden.set_gradients(0);
  optimizer.step(1, kGo);
  tensor::StateDict before;
  for (const auto& [name, value] : optimizer.state()) before[name] = value.clone();
  for (const ParameterGroup& group : golden.groups) {
    for (const auto& [name, parameter] : group.parameters) before["p." + name] = parameter.detach().clone();
  }
  golden.set_gradients(1);
  golden.groups[0].parameters[0].second.mutable_grad().fill_(std::numeric_limits<float>::quiet_NaN());
  const torch::Tensor norm = optimizer.clip(2);
  EXPECT_FALSE(std::isfinite(norm.item<double>()));
  optimizer.step(1, kSkip);
  for (const auto& [name, value] : optimizer.state()) EXPECT_TRUE(torch::equal(value, before.at(name))) << name;
  for (const ParameterGroup& group : golden.groups) {
    for (const auto& [name, parameter] : group.parameters) {
      EXPECT_TRUE(torch::equal(parameter, before.at("p." + name))) << name;
    }
  }
}

TEST(AdamW, ScaledGradientsAreBroughtBackBeforeClipping) {
  Golden golden;
  AdamW optimizer(golden.groups);
  golden.set_gradients(1);
  for (ParameterGroup& group : golden.groups) {
    for (auto& [name, parameter] : group.parameters) parameter.mutable_grad().mul_(1024);
  }
  const torch::Tensor norm = optimizer.clip(2, torch::full({}, 1.0 / 1024));
  expect_close("norm", norm, golden.tensors.at("norm.1"), 1e-6);
}

TEST(AdamW, StateGoesIntoAnotherAndMistakesAreNamed) {
  Golden golden, other;
  AdamW first(golden.groups), second(other.groups);
  golden.set_gradients(0);
  first.step(1, kGo);
  second.load(first.state(), "file");
  for (const auto& [name, value] : first.state()) EXPECT_TRUE(torch::equal(value, second.state().at(name))) << name;
  tensor::StateDict state = first.state();
  state["mean.a.bias"] = torch::zeros({3});
  EXPECT_NE(error_of([&] { second.load(state, "file"); }).find("file: the optimizer's mean.a.bias has shape [3]"),
            std::string::npos);
  state.erase("mean.a.bias");
  EXPECT_NE(error_of([&] { second.load(state, "file"); }).find("mean.a.bias is missing"), std::string::npos);
  EXPECT_THROW(AdamW(std::vector<ParameterGroup>{}), Error);
}

TEST(Ema, HandValues) {
  EXPECT_DOUBLE_EQ(train::Ema::decay_at(1, 0.999), 0.5);
  EXPECT_DOUBLE_EQ(train::Ema::decay_at(3, 0.999), 0.75);
  EXPECT_DOUBLE_EQ(train::Ema::decay_at(5000, 0.999), 0.999);
  const torch::NoGradGuard no_grad;
  torch::nn::BatchNorm1d student(1), teacher(1);
  train::Ema ema(*student, *teacher, 0.6);
  student->weight.fill_(2);
  student->running_mean.fill_(8);
  ema.copy();
  EXPECT_EQ(teacher->weight.item<float>(), 2);
  student->weight.fill_(4);
  student->running_mean.fill_(0);
  student->num_batches_tracked.fill_(7);
  ema.update(1, torch::zeros({}));  // half and half
  EXPECT_FLOAT_EQ(teacher->weight.item<float>(), 3);
  EXPECT_FLOAT_EQ(teacher->running_mean.item<float>(), 4) << "statistics of batch norm are averaged too";
  EXPECT_EQ(teacher->num_batches_tracked.item<int64_t>(), 7);
  ema.update(2, torch::zeros({}));  // 1 - 1/3 is above 0.6
  EXPECT_FLOAT_EQ(teacher->weight.item<float>(), 0.6f * 3 + 0.4f * 4);
  EXPECT_EQ(student->weight.item<float>(), 4);
}

TEST(Checkpoints, TheNewestTwoAreKept) {
  const TemporaryFolder folder;
  const train::CheckpointFolder checkpoints(folder.path() / "checkpoints");
  EXPECT_FALSE(checkpoints.newest().has_value());
  for (const int64_t step : {5, 90, 1000}) {
    checkpoints.write({.step = step, .tensors = {{"x", torch::full({2}, step)}}, .facts = {{"note", "a"}}, .file = {}});
  }
  EXPECT_EQ(list_files(folder.path(), {}).size(), 2u);
  const auto found = checkpoints.newest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->step, 1000);
  EXPECT_EQ(found->facts.at("note"), "a");
  EXPECT_EQ(found->tensors.at("x")[1].item<int64_t>(), 1000);
}

TEST(Checkpoints, ADamagedNewestFallsBackWithAWarning) {
  const TemporaryFolder folder;
  const train::CheckpointFolder checkpoints(folder.path());
  for (const int64_t step : {1, 2}) {
    checkpoints.write({.step = step, .tensors = {{"x", torch::zeros({100})}}, .facts = {}, .file = {}});
  }
  const std::vector<Path> files = list_files(folder.path(), {});
  std::filesystem::resize_file(files[1], std::filesystem::file_size(files[1]) / 2);
  testing::internal::CaptureStderr();
  const auto found = checkpoints.newest();
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->step, 1);
  EXPECT_NE(said.find(files[1].filename().string()), std::string::npos) << said;
  EXPECT_NE(said.find("trying the checkpoint before it"), std::string::npos) << said;
  std::filesystem::resize_file(files[0], 3);
  EXPECT_NE(error_of([&] { checkpoints.newest(); }).find("none of its 2 checkpoint(s) can be read"), std::string::npos);
}

TEST(Checkpoints, PrefixesSortTensors) {
  tensor::StateDict all;
  train::add_with_prefix(all, "network.", {{"a", torch::zeros({1})}});
  train::add_with_prefix(all, "teacher.", {{"a", torch::ones({1})}});
  const tensor::StateDict part = train::with_prefix(all, "teacher.");
  ASSERT_EQ(part.size(), 1u);
  EXPECT_EQ(part.at("a").item<float>(), 1);
}

}  // namespace
}  // namespace crisp::test
