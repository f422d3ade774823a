// The student's task: what it learns from, phases, relabelling.
#include "crisp/train/segment_task.h"

#include "tests/train/student_fixture.h"

namespace crisp::test {
namespace {

size_t count_of(const image::Mask& mask, uint8_t label) {
  return static_cast<size_t>(std::count(mask.labels.begin(), mask.labels.end(), label));
}

TEST(SegmentTask, TheMostUncertainPixelsAreLeftOut) {
  Scenes scenes(2);
  train::SegmentOptions options = quick_options();
  options.phases.drop_first = 0.5;
  options.phases.drop_last = 0.1;
  options.phases.drop_until = 0.5;
  auto task = task_of(scenes, options, scenes.run());
  for (const auto& [step, share] : {std::pair{0, 0.5}, {25, 0.3}, {99, 0.1}}) {
    task->prepare({step, 100, 0});
    for (const data::Example& example : task->loader().next()) {
      const data::Seed seed = data::SeedFolder(scenes.seeds()).read(example.id);
      for (const uint8_t label : {uint8_t{0}, static_cast<uint8_t>(example.id == "p0" ? 1 : 2)}) {
        const auto before = static_cast<double>(count_of(seed.labels, label));
        const auto kept = static_cast<double>(count_of(example.labels, label));
        EXPECT_GE(kept, (1 - share) * before) << example.id << " step " << step;
        EXPECT_LE(kept, (1 - share) * before + 65) << "a level of uncertainty is at most a column";
      }
    }
  }
}

TEST(SegmentTask, EveryRowAndTheSurfaceLossTrain) {
  Scenes scenes(2);
  train::SegmentOptions options = quick_options();
  options.loss.surface = 0.1;
  for (const std::string row : {"A0", "A1", "A2", "A3", "A4", "A5", "A6"}) {
    auto task = task_of(scenes, options, scenes.run(), 0, row);
    task->network().train();
    const train::Losses losses = task->losses(task->loader().next(), {50, 100, 0});
    std::string names;
    for (const auto& [name, value] : losses.parts) names += name + " ";
    const std::string expected = std::string("cross_entropy dice surface ") + (row >= "A2" ? "heteroscedastic " : "") +
                                 (row >= "A4" ? "boundary " : "");
    EXPECT_EQ(names, expected) << row;
    losses.total.backward();
    EXPECT_TRUE(std::isfinite(losses.total.item<double>())) << row;
  }
}

TEST(SegmentTask, PhasesSwitchAtTheirFraction) {
  Scenes scenes(2);
  auto task = task_of(scenes, quick_options(), scenes.run(), 0, "A6", 0);
  task->network().train();
  const std::vector<data::Example> batch = task->loader().next();
  const auto loss_at = [&](int64_t step) {
    const torch::NoGradGuard no_grad;
    return task->losses(batch, {step, 1000, 0}).total.item<double>();
  };
  // Batch statistics decide in training mode, so a second look at one batch says the same.
  EXPECT_EQ(loss_at(0), loss_at(99)) << "attaching the refiner changes gradients only";
  EXPECT_GT(std::abs(loss_at(99) - loss_at(100)), 1e-4) << "weighting";
  EXPECT_EQ(loss_at(100), loss_at(149));
  EXPECT_GT(std::abs(loss_at(149) - loss_at(150)), 1e-7) << "modulation";
  const auto refiner_input = [&](int64_t step) {
    task->network().zero_grad();
    task->losses(batch, {step, 1000, 0}).total.backward();
    double norm = 0;
    for (const auto& item : task->network().named_parameters()) {
      if (contains(item.key(), "classifier.weight")) norm = item.value().grad().norm().item<double>();
    }
    return norm;
  };
  EXPECT_NE(refiner_input(74), refiner_input(75));
}

TEST(SegmentTask, ALabelOfAnotherSizeIsNamedAndLeftOut) {
  Scenes scenes(3);
  image::write_mask_png(scenes.seeds() / "labels/p1.png", image::Mask(32, 16));
  std::filesystem::remove(scenes.seeds() / "uncertainty/p1.png");
  train::SegmentOptions options = quick_options();
  options.relabel.on = true;
  options.relabel.from = 0.5;
  options.relabel.found_at_least = 0;
  auto task = task_of(scenes, options, scenes.run());
  train::TrainerOptions o;
  o.epochs = 4;
  train::Trainer trainer(*task, o, torch::kCPU, scenes.run());
  testing::internal::CaptureStderr();
  EXPECT_TRUE(trainer.run(never)) << "relabelling included";
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(contains(said, "p1.png: the photo is 64x64, but its labels are 32x16")) << said;
}

TEST(SegmentTask, RelabellingKeepsTheSurestPixels) {
  Scenes scenes(4);
  train::SegmentOptions options = relabelling();
  options.relabel.from = 0;
  options.relabel.keep_first = options.relabel.keep_last = 0;  // nothing but the least number stays
  options.relabel.keep_at_least = 50;
  auto task = task_of(scenes, options, scenes.run());
  const train::Numbers numbers = task->prepare({0, 100, 0});
  ASSERT_EQ(numbers.size(), 5u);
  EXPECT_EQ(numbers[2].first, "miou");
  EXPECT_EQ(numbers[3], (std::pair<std::string, double>("used", 1)));
  EXPECT_EQ(numbers[4], (std::pair<std::string, double>("ignored", 1)));
  ASSERT_EQ(task->rounds().size(), 1u);
  EXPECT_EQ(numbers[0].second, task->rounds()[0].second.agreement);
  const data::SeedFolder made(scenes.run() / "relabelled/round-01");
  for (const data::Example& example : task->loader().next()) {
    const data::Seed seed = made.read(example.id);
    uint8_t highest = 0, lowest = 255;
    for (uint8_t label = 0; label < 3; ++label) {
      const size_t there = count_of(seed.labels, label);
      EXPECT_GE(count_of(example.labels, label), std::min<size_t>(50, there)) << "class " << int{label};
    }
    for (size_t i = 0; i < seed.labels.labels.size(); ++i) {
      if (seed.labels.labels[i] != 0) continue;
      const uint8_t u = seed.uncertainty.labels[i];
      if (example.labels.labels[i] == 0) {
        highest = std::max(highest, u);
      } else {
        lowest = std::min(lowest, u);
      }
    }
    EXPECT_LT(highest, lowest) << "what stays is surer than what goes";
  }
}

TEST(SegmentTask, AThresholdHoldsThoughTheShareDoesNotChange) {
  Scenes scenes(4);
  train::SegmentOptions options = relabelling();
  options.relabel.all = true;  // the teacher's labels alone
  options.relabel.from = 0.5;
  options.phases.drop_first = options.phases.drop_last = 0.25;
  options.relabel.keep_first = options.relabel.keep_last = 0.75;
  options.relabel.keep_at_least = 0;
  options.relabel.threshold = 0.1;
  auto task = task_of(scenes, options, scenes.run());
  task->prepare({0, 100, 0});
  task->prepare({50, 100, 0});
  const data::SeedFolder made(scenes.run() / "relabelled/round-01");
  for (const data::Example& example : task->loader().next()) {
    const data::Seed seed = made.read(example.id);
    for (size_t i = 0; i < seed.labels.labels.size(); ++i) {
      EXPECT_EQ(example.labels.labels[i] == image::kIgnore, seed.uncertainty.labels[i] > 25);
    }
  }
}

TEST(SegmentTask, RelabellingWaitsForATeacherThatFindsTheTags) {
  Scenes scenes(4);
  train::SegmentOptions options = relabelling();
  options.relabel.found_at_least = 0.8;
  auto task = task_of(scenes, options, scenes.run());
  {
    const torch::NoGradGuard no_grad;  // it sees background alone
    for (const auto& item : task->teacher()->named_parameters()) {
      if (item.key() == "head.classifier.bias") item.value()[0] = 100.0f;
    }
  }
  testing::internal::CaptureStderr();
  EXPECT_TRUE(task->prepare({0, 100, 0}).empty()) << "not yet";
  const train::Numbers numbers = task->prepare({25, 100, 0});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(numbers[1], (std::pair<std::string, double>("found", 0)));
  EXPECT_EQ(numbers.back(), (std::pair<std::string, double>("used", 0)));
  EXPECT_TRUE(contains(said, "relabelling postponed: the teacher finds 0.0% of the tags, less than 80%")) << said;
  EXPECT_EQ(task->state().at("relabelled"), "");
  EXPECT_EQ(task->state().at("round"), "1");
  const data::Example example = task->loader().next()[0];
  const data::Seed seed = data::SeedFolder(scenes.seeds()).read(example.id);
  EXPECT_GT(count_of(example.labels, static_cast<uint8_t>(example.id == "p0" || example.id == "p2" ? 1 : 2)), 0u)
      << "still the first seeds";
  EXPECT_TRUE(task->prepare({54, 100, 0}).empty()) << "the next try has its time";
  {
    const torch::NoGradGuard no_grad;
    for (const auto& item : task->teacher()->named_parameters()) {
      if (item.key() == "head.classifier.bias") item.value()[0] = -100.0f;
    }
  }
  EXPECT_EQ(task->prepare({55, 100, 0})[1].second, 1);
  EXPECT_EQ(task->state().at("relabelled"), "relabelled/round-02");
}

}  // namespace
}  // namespace crisp::test
