// The training loop: going on to the same bits, steps that are not finite, logs.
#include "crisp/train/trainer.h"

#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "tests/support/support.h"
#include "tests/train/log_text.h"
#include "tests/train/tiny_task.h"

namespace crisp::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

train::TrainerOptions options() {
  train::TrainerOptions o;
  o.epochs = 4;  // of three steps: 13 examples, batches of 2, two of them a step
  o.accumulate = 2;
  o.seed = 5;
  return o;
}

bool never() { return false; }

std::function<bool()> after(int steps) {
  return [left = steps]() mutable { return --left <= 0; };
}

struct Ran {
  std::string model, log;
  bool operator==(const Ran&) const = default;
};

Ran undisturbed(const train::TrainerOptions& o, bool teacher, int workers = 2) {
  const TemporaryFolder folder;
  TinyTask task(teacher, workers);
  train::Trainer trainer(task, o, torch::kCPU, folder.path());
  EXPECT_TRUE(trainer.run(never));
  return {read_text(folder.path() / "model.safetensors"), log_without_clock(folder.path())};
}

TEST(Trainer, ARunThatWentOnEndsWithTheSameBits) {
  for (const bool teacher : {false, true}) {
    const Ran whole = undisturbed(options(), teacher);
    EXPECT_EQ(std::count(whole.log.begin(), whole.log.end(), '\n'), 12 + 4) << "a line a step, one a validation";
    EXPECT_TRUE(contains(whole.log, "3: epoch=1 val_step=3\n")) << whole.log;
    const TemporaryFolder folder;
    for (const int stop : {1, 4, 2}) {  // in the middle of an epoch and at its end
      TinyTask task(teacher);
      train::Trainer trainer(task, options(), torch::kCPU, folder.path());
      trainer.resume();
      EXPECT_FALSE(trainer.run(after(stop)));
      EXPECT_FALSE(std::filesystem::exists(folder.path() / "model.safetensors"));
    }
    TinyTask task(teacher);
    train::Trainer trainer(task, options(), torch::kCPU, folder.path());
    trainer.resume();
    EXPECT_EQ(trainer.step(), 7);
    EXPECT_EQ(task.restored, "kept");
    EXPECT_TRUE(trainer.run(never));
    EXPECT_EQ(read_text(folder.path() / "model.safetensors"), whole.model) << "teacher: " << teacher;
    EXPECT_EQ(log_without_clock(folder.path()), whole.log);
  }
}

TEST(Trainer, WhatACrashLostIsDoneAgain) {
  const Ran whole = undisturbed(options(), true);
  for (const int64_t crash : {2, 7}) {  // before the first checkpoint, and one step after the second
    const TemporaryFolder folder;
    {
      TinyTask task(true);
      task.spoil = [&](int64_t step, torch::Tensor&) {
        if (step == crash) throw std::runtime_error("the power is gone");
      };
      train::Trainer trainer(task, options(), torch::kCPU, folder.path());
      EXPECT_THROW(trainer.run(never), std::runtime_error);
    }
    TinyTask task(true);
    train::Trainer trainer(task, options(), torch::kCPU, folder.path());
    trainer.resume();
    EXPECT_EQ(trainer.step(), crash == 2 ? 0 : 6);
    EXPECT_TRUE(trainer.run(never));
    EXPECT_EQ(read_text(folder.path() / "model.safetensors"), whole.model) << crash;
    EXPECT_EQ(log_without_clock(folder.path()), whole.log) << crash;
  }
}

TEST(Trainer, ADamagedNewestCheckpointCostsOneEpoch) {
  const Ran whole = undisturbed(options(), true);
  const TemporaryFolder folder;
  {
    TinyTask task(true);
    train::Trainer trainer(task, options(), torch::kCPU, folder.path());
    EXPECT_FALSE(trainer.run(after(7)));
  }
  const std::vector<Path> files = list_files(folder.path() / "checkpoints", {});
  ASSERT_EQ(files.size(), 2u);
  std::filesystem::resize_file(files[1], 1000);
  TinyTask task(true);
  train::Trainer trainer(task, options(), torch::kCPU, folder.path());
  trainer.resume();
  EXPECT_EQ(trainer.step(), 6);
  EXPECT_TRUE(trainer.run(never));
  EXPECT_EQ(read_text(folder.path() / "model.safetensors"), whole.model);
  EXPECT_EQ(log_without_clock(folder.path()), whole.log);
}

TEST(Trainer, TheNumberOfLoadersChangesNothing) {
  EXPECT_EQ(undisturbed(options(), false, 1), undisturbed(options(), false, 2));
}

TEST(Trainer, AnotherSeedGivesAnotherRun) {
  train::TrainerOptions other = options();
  other.seed = 6;
  EXPECT_NE(undisturbed(other, false).model, undisturbed(options(), false).model) << "dropout follows the seed";
}

// Network (with batch-norm statistics), optimizer counts and log after a run of four steps whose step 1 was spoiled.
struct Skipped {
  tensor::StateDict before, after;
  int64_t skipped = 0;
  std::string said;
};

Skipped run_spoiled(const std::function<void(TinyTask&)>& spoil) {
  const TemporaryFolder folder;
  TinyTask task(true);
  spoil(task);
  Skipped result;
  train::TrainerOptions o = options();
  o.accumulate = 1;
  train::Trainer trainer(task, o, torch::kCPU, folder.path());
  const auto keep = [&](tensor::StateDict& state) {
    for (const auto& [name, value] : tensor::state_of(task.network())) state[name] = value.clone();
  };
  testing::internal::CaptureStderr();
  trainer.run(after(1));
  keep(result.before);
  trainer.run(after(1));  // the spoiled one
  keep(result.after);
  result.skipped = trainer.skipped_steps();
  EXPECT_TRUE(trainer.run(never));
  result.said = testing::internal::GetCapturedStderr();
  for (const auto& [name, value] : tensor::read_safetensors(folder.path() / "model.safetensors").tensors) {
    EXPECT_TRUE(torch::isfinite(value).all().item<bool>()) << name;
  }
  EXPECT_TRUE(contains(read_text(folder.path() / "log.jsonl"), "\"skipped\":1"));
  return result;
}

void expect_nothing_changed(const Skipped& result, const std::string& what) {
  EXPECT_EQ(result.skipped, 1) << what;
  for (const auto& [name, value] : result.before) EXPECT_TRUE(torch::equal(value, result.after.at(name))) << name;
  EXPECT_TRUE(contains(result.said, "not finite")) << result.said;
  EXPECT_TRUE(contains(result.said, "the step was skipped")) << result.said;
  EXPECT_TRUE(contains(result.said, "images: photo")) << result.said;
}

TEST(Trainer, AStepThatIsNotFiniteChangesNothing) {
  // Infinite pixels reach the statistics of the batch norm before they reach the loss.
  expect_nothing_changed(run_spoiled([](TinyTask& task) {
                           task.spoil = [](int64_t step, torch::Tensor& input) {
                             if (step == 1) input.fill_(kInfinity);
                           };
                         }),
                         "input");
  expect_nothing_changed(run_spoiled([](TinyTask& task) {
                           task.spoil_loss = [](int64_t step, torch::Tensor& loss) {
                             if (step == 1) loss = loss * kNan;
                           };
                         }),
                         "gradient");
  // A constant has no gradient: the loss alone tells.
  expect_nothing_changed(run_spoiled([](TinyTask& task) {
                           task.spoil_loss = [](int64_t step, torch::Tensor& loss) {
                             if (step == 1) loss = loss + kInfinity;
                           };
                         }),
                         "loss");
}

TEST(Trainer, ThreeBadStepsInARowEndTheRun) {
  const TemporaryFolder folder;
  TinyTask task;
  task.spoil_loss = [](int64_t step, torch::Tensor& loss) {
    if (step == 3 || step == 4 || step >= 6) loss = loss * kNan;  // two in a row are forgiven
  };
  train::Trainer trainer(task, options(), torch::kCPU, folder.path());
  testing::internal::CaptureStderr();
  const std::string error = error_of([&] { trainer.run(never); });
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(contains(error, "3 steps in a row")) << error;
  EXPECT_TRUE(contains(error, "square nan")) << error;
  EXPECT_TRUE(contains(error, "images: photo")) << error;
  EXPECT_TRUE(contains(error, (folder.path() / "checkpoints").string())) << error;
  EXPECT_EQ(trainer.skipped_steps(), 5);
  EXPECT_EQ(report::read_run_log(folder.path() / "log.jsonl").back().step, 9);
}

TEST(Trainer, ACheckpointOfAnotherRunIsRefused) {
  const TemporaryFolder folder;
  TinyTask task;
  {
    train::Trainer trainer(task, options(), torch::kCPU, folder.path());
    trainer.run(after(1));
  }
  train::TrainerOptions longer = options();
  longer.epochs = 9;
  train::Trainer trainer(task, longer, torch::kCPU, folder.path());
  EXPECT_TRUE(contains(error_of([&] { trainer.resume(); }), "tiny, 12 steps; this one is tiny, 27 steps"));
}

TEST(Trainer, OptionsAreCheckedBeforeTheyAreUsed) {
  const TemporaryFolder folder;
  TinyTask task;
  const auto mistake = [&](void (*change)(train::TrainerOptions&)) {
    train::TrainerOptions o = options();
    change(o);
    return error_of([&] { train::Trainer(task, o, torch::kCPU, folder.path()); });
  };
  EXPECT_TRUE(contains(mistake([](auto& o) { o.accumulate = 0; }), "--accumulate 0"));
  EXPECT_TRUE(contains(mistake([](auto& o) { o.epochs = 0; }), "--epochs 0"));
  EXPECT_TRUE(contains(mistake([](auto& o) { o.clip = -1; }), "--clip -1"));
  EXPECT_TRUE(contains(mistake([](auto& o) { o.ema_decay = 1; }), "--ema-decay 1"));
  EXPECT_TRUE(contains(mistake([](auto& o) { o.amp = "f8"; }), "f8"));
}

}  // namespace
}  // namespace crisp::test
