// Whole runs of a student: the same bits however often it is stopped, bad steps, the model kept, memory.
#include "crisp/base/memory.h"
#include "tests/train/student_fixture.h"
#include "tests/train/tiny_task.h"

namespace crisp::test {
namespace {

std::function<bool()> after(int steps) {
  return [left = steps]() mutable { return --left <= 0; };
}

struct Ran {
  std::string model, log;
  size_t rounds = 0;
};

void expect_same(const Ran& a, const Ran& b, const std::string& what) {
  EXPECT_EQ(a.log, b.log) << what;
  EXPECT_EQ(a.rounds, b.rounds) << what;
  EXPECT_TRUE(a.model == b.model) << what << ": other weights";
}

train::TrainerOptions run_options() {
  train::TrainerOptions o;
  o.epochs = 6;  // of two steps
  o.seed = 4;
  o.ema_decay = 0.9;
  return o;
}

Ran finish(const Scenes& scenes, const train::SegmentOptions& options, const Path& run, bool resume, size_t val = 2) {
  auto task = task_of(scenes, options, run, val);
  train::Trainer trainer(*task, run_options(), torch::kCPU, run);
  if (resume) trainer.resume();
  EXPECT_TRUE(trainer.run(never));
  return {read_text(run / "model.safetensors"), log_without_clock(run), task->rounds().size()};
}

TEST(StudentRun, TwiceAndWithOtherThreadsItIsTheSame) {
  Scenes scenes(5);
  train::SegmentOptions options = relabelling();
  options.augment = {.crop = 64};  // with everything random
  const Ran first = finish(scenes, options, scenes.run("a"), false);
  EXPECT_EQ(first.rounds, 3u) << "steps 3, 7 and 11 of 12";
  EXPECT_TRUE(contains(first.log, "4: epoch=1 relabel_agreement=")) << first.log;
  EXPECT_EQ(std::count(first.log.begin(), first.log.end(), '\n'), 12 + 6 + 3);
  expect_same(finish(scenes, options, scenes.run("b"), false), first, "again");
  for (const int workers : {1, 5}) {
    options.workers = workers;
    const std::string name = std::to_string(workers) + " workers";
    expect_same(finish(scenes, options, scenes.run(name), false), first, name);
  }
}

TEST(StudentRun, StoppedAnywhereItEndsWithTheSameBits) {
  Scenes scenes(5);
  train::SegmentOptions options = relabelling();
  options.relabel.checked = true;
  options.augment = {.crop = 64};
  const Ran whole = finish(scenes, options, scenes.run("whole"), false);
  for (const int stop : {3, 4, 7}) {  // before a round, after it, before the second
    const Path run = scenes.run(std::to_string(stop));
    {
      auto task = task_of(scenes, options, run, 2);
      train::Trainer trainer(*task, run_options(), torch::kCPU, run);
      EXPECT_FALSE(trainer.run(after(stop)));
    }
    expect_same(finish(scenes, options, run, true), whole, fmt::format("stopped after {}", stop));
  }
  // A crash inside a step: what came after the last checkpoint, a round among it, is done again.
  const Path run = scenes.run("crash");
  {
    auto task = task_of(scenes, options, run, 2);
    task->spoil = [](int64_t step, train::Losses&) {
      if (step == 3) throw std::runtime_error("the power is gone");
    };
    train::Trainer trainer(*task, run_options(), torch::kCPU, run);
    EXPECT_THROW(trainer.run(never), std::runtime_error);
    EXPECT_TRUE(contains(log_without_clock(run), "relabel_agreement"));
  }
  expect_same(finish(scenes, options, run, true), whole, "crash");
}

TEST(StudentRun, ASkippedStepLeavesStudentAndTeacherAlone) {
  Scenes scenes(5);
  const Path run = scenes.run();
  auto task = task_of(scenes, quick_options(), run);
  task->spoil = [](int64_t step, train::Losses& losses) {
    if (step == 2) losses.total = losses.total * std::numeric_limits<float>::quiet_NaN();
  };
  train::Trainer trainer(*task, run_options(), torch::kCPU, run);
  const auto copy_of = [](const torch::nn::Module& module) {
    tensor::StateDict state;
    for (const auto& [name, value] : tensor::state_of(module)) state[name] = value.clone();
    return state;
  };
  testing::internal::CaptureStderr();
  trainer.run(after(2));
  const tensor::StateDict student = copy_of(task->network()), teacher = copy_of(*task->teacher());
  trainer.run(after(1));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(trainer.skipped_steps(), 1);
  for (const auto& [name, value] : tensor::state_of(task->network()))
    EXPECT_TRUE(torch::equal(value, student.at(name)));
  for (const auto& [name, value] : tensor::state_of(*task->teacher())) {
    EXPECT_TRUE(torch::equal(value, teacher.at(name))) << name;
  }
  EXPECT_TRUE(contains(said, "step 3: loss or gradients are not finite (loss nan")) << "counted from 1: " << said;
  EXPECT_TRUE(contains(said, "; images: p")) << said;
  EXPECT_EQ(report::read_run_log(run / "log.jsonl").back().step, 3);
  EXPECT_TRUE(trainer.run(never));
}

TEST(StudentRun, AFullGpuNamesSizesThatMayFit) {
  Scenes scenes(4);
  const auto message = [&](int64_t batch) {
    train::SegmentOptions options = quick_options();
    options.batch = batch;
    const Path run = scenes.run("batch" + std::to_string(batch));
    auto task = task_of(scenes, options, run);
    task->spoil = [](int64_t, train::Losses&) { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory"); };
    train::Trainer trainer(*task, run_options(), torch::kCPU, run);
    return error_of([&] { trainer.run(never); });
  };
  const std::string two = message(2);
  EXPECT_TRUE(contains(two, "it does not hold 2 crops of 64x64; try --batch 1 --accumulate 2")) << two;
  EXPECT_TRUE(contains(two, "--crop 32")) << two;
  EXPECT_TRUE(contains(two, "--resume")) << two;
  EXPECT_TRUE(contains(message(1), "it does not hold one crop of 64x64; --crop 32"));
}

TEST(StudentRun, ARunMayGoOnInHalfPrecision) {
  const TemporaryFolder folder;
  train::TrainerOptions o;
  o.epochs = 2;
  {
    TinyTask task;
    train::Trainer trainer(task, o, torch::kCPU, folder.path());
    EXPECT_FALSE(trainer.run(after(1)));
  }
  o.amp = "fp16";
  TinyTask task;
  train::Trainer trainer(task, o, torch::kCPU, folder.path());
  EXPECT_EQ(error_of([&] { trainer.resume(); }), "no error") << "a scale that was never saved is found again";
  EXPECT_EQ(trainer.step(), 1);
}

TEST(StudentRun, TheModelIsTheLastTeacherUnlessChosenByMasks) {
  Scenes scenes(5);
  train::SegmentOptions options = quick_options();
  finish(scenes, options, scenes.run("last"), false, 3);
  const auto facts = [](const Path& run) { return tensor::read_safetensors(run / "model.safetensors").metadata; };
  EXPECT_EQ(facts(scenes.run("last")).at("selected_by"), "last step");
  EXPECT_EQ(facts(scenes.run("last")).at("labels"), "seeds");
  EXPECT_FALSE(std::filesystem::exists(scenes.run("last") / "best.safetensors"));

  options.select_on_masks = true;
  options.encoder_rate = options.head_rate = 1;  // so that the scores go up and down
  const Path run = scenes.run("chosen");
  testing::internal::CaptureStderr();
  const Ran whole = finish(scenes, options, run, false, 3);
  const std::string said = testing::internal::GetCapturedStderr();
  int64_t best_step = 0;
  double best = -1;
  for (const report::LogRecord& record : report::read_run_log(run / "log.jsonl")) {
    const double miou = record.number("val_miou").value_or(-1);
    if (miou > best) best = miou, best_step = record.step;
  }
  ASSERT_LT(best_step, 12) << "the last was the best: this test shows nothing";
  EXPECT_EQ(facts(run).at("selected_by"), "best mIoU on masks of split val");
  EXPECT_EQ(facts(run).at("step"), std::to_string(best_step));
  EXPECT_NEAR(std::stod(facts(run).at("validation_miou")), best, 1e-9);
  EXPECT_TRUE(contains(said, "CHOSEN BY A SCORE ON MASKS")) << said;
  EXPECT_TRUE(contains(said, fmt::format("on split val at step {}", best_step))) << said;
  // A run that went on has chosen the same, even when it was stopped after its best moment.
  const Path stopped = scenes.run("stopped");
  {
    auto task = task_of(scenes, options, stopped, 3);
    train::Trainer trainer(*task, run_options(), torch::kCPU, stopped);
    EXPECT_FALSE(trainer.run(after(static_cast<int>(best_step) + 1)));
  }
  expect_same(finish(scenes, options, stopped, true, 3), whole, "stopped");
  EXPECT_TRUE(contains(error_of([&] { task_of(scenes, options, scenes.run("none"), 0); }), "--select masks"));
}

TEST(StudentRun, ValidationSurvivesAMaskThatCannotBeRead) {
  Scenes scenes(4);
  write_atomic(*scenes.samples[0].mask, "no mask");
  auto task = task_of(scenes, quick_options(), scenes.run(), 3);
  testing::internal::CaptureStderr();
  const train::Numbers numbers = task->validate({1, 2, 0});
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_TRUE(std::isfinite(numbers[0].second));
  EXPECT_TRUE(contains(said, "p0_mask.png")) << said;
  EXPECT_TRUE(std::filesystem::exists(scenes.run() / "samples/p1/step-0000001.png"));
}

TEST(StudentRun, WithoutMasksValidationIsNamedAfterItsSeeds) {
  Scenes scenes(4);
  train::SegmentData data = scenes.data(2);
  data.val_has_masks = false;
  train::SegmentTask task(drawn(small_student()), drawn(small_student()), data, quick_options(), torch::kCPU,
                          scenes.run());
  EXPECT_EQ(task.validate({1, 2, 0})[0].first, "miou_on_seeds");
}

TEST(StudentRun, MemoryStaysFlatOverEpochs) {
  Scenes scenes(8);
  train::SegmentOptions options = relabelling();
  options.relabel.every = 0.05;
  options.augment = {.crop = 64};
  auto task = task_of(scenes, options, scenes.run(), 4);
  train::TrainerOptions o = run_options();
  o.epochs = 12;  // of four steps
  o.checkpoint_every = 4;
  train::Trainer trainer(*task, o, torch::kCPU, scenes.run());
  double early = 0, late = 0;
  EXPECT_TRUE(trainer.run([&] {
    if (trainer.step() == 3 * 4) early = resident_memory_mb();
    if (trainer.step() == 47) late = resident_memory_mb();
    return false;
  }));
  EXPECT_GT(early, 50);
  EXPECT_LT(late, early + 8) << "MB";
}

}  // namespace
}  // namespace crisp::test
