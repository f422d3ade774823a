// What can be checked of a round of relabelling without masks, and what becomes of a round that fails.
#include "crisp/train/round_check.h"

#include "crisp/tensor/autocast.h"
#include "tests/support/vit.h"
#include "tests/train/student_fixture.h"

namespace crisp::test {
namespace {

// Says of each photo what its colours say: class 1 where it is red, class 2 where it is blue.
model::Segmenter knowing(double right) {
  model::Segmenter network = drawn(small_student("A0"));
  const torch::NoGradGuard no_grad;
  for (const auto& item : network->named_parameters()) {
    if (contains(item.key(), "classifier")) item.value().mul_(right);
  }
  return network;
}

TEST(RoundCheck, AMirroredNetworkAgreesWithItselfAsFarAsItIsSymmetric) {
  const Scenes scenes(6);
  // Without a classifier every cell is of the first class, in the mirror too.
  const train::MasklessScore flat =
      train::score_without_masks(knowing(0), scenes.samples, 6, torch::kCPU, torch::kFloat);
  EXPECT_NEAR(flat.mirror, 100, 1e-9);
  EXPECT_NEAR(flat.tags, 50, 1e-9) << "equal scores: half of the photos have each tag";
  const train::MasklessScore drawn_one =
      train::score_without_masks(knowing(1), scenes.samples, 6, torch::kCPU, torch::kFloat);
  EXPECT_LT(drawn_one.mirror, 100);
  EXPECT_GE(drawn_one.tags, 50);
}

TEST(RoundCheck, AFrozenEncoderIsAskedInItsOwnTypeWithinMixedPrecision) {
  const Scenes scenes(2);
  feature::Store store(tiny_vit(), tiny_view(), torch::kCPU, {});
  const tensor::Autocast mixed(torch::kCPU, torch::kBFloat16);
  EXPECT_EQ(store.tokens({scenes.samples[0].image}).scalar_type(), torch::kHalf);
}

TEST(RoundCheck, ATrialSurvivesAsText) {
  for (const std::string folder : {"", "relabelled/round-02"}) {
    const train::RoundTrial trial{17, {94.123456789, 98.7}, folder};
    const train::RoundTrial read = train::RoundTrial::from_text(trial.to_text());
    EXPECT_EQ(read.due, 17);
    EXPECT_EQ(read.before.tags, trial.before.tags);
    EXPECT_EQ(read.before.mirror, trial.before.mirror);
    EXPECT_EQ(read.labels_before, folder);
  }
}

TEST(RoundCheck, APointIsChance) {
  EXPECT_FALSE(train::is_lower({90, 80}, {90.9, 80.9}));
  EXPECT_TRUE(train::is_lower({88.9, 80}, {90, 80}));
  EXPECT_TRUE(train::is_lower({90, 78.9}, {90, 80}));
  EXPECT_FALSE(train::is_lower({99, 99}, {90, 80}));
}

TEST(RoundCheck, UntaggedAndUnreadablePhotosAreLeftOut) {
  Scenes scenes(4);
  scenes.samples[0].tags.clear();
  write_atomic(scenes.samples[1].image, "no picture");
  EXPECT_NO_THROW(train::score_without_masks(knowing(1), scenes.samples, 0, torch::kCPU, torch::kFloat));
  const std::vector<data::Sample> none = {scenes.samples[0]};
  EXPECT_EQ(train::score_without_masks(knowing(1), none, 0, torch::kCPU, torch::kFloat).tags, 0);
}

// Two of twelve steps after a round it is judged; what the teacher is worth by then is the test's to say.
TEST(RoundCheck, ARoundIsJudgedHalfWayToTheNext) {
  Scenes scenes(5);
  train::SegmentOptions options = relabelling();
  options.relabel.checked = true;
  auto task = task_of(scenes, options, scenes.run(), 2);
  const int64_t steps = 100;
  const auto at = [&](int64_t step) {
    const train::Numbers numbers = task->prepare({step, steps, 0});
    std::string names;
    for (const auto& [name, value] : numbers) names += name + " ";
    return names;
  };
  const int64_t round = static_cast<int64_t>(std::ceil(options.relabel.from * steps));
  EXPECT_TRUE(contains(at(round), "used"));
  EXPECT_EQ(at(round + 1), "");
  const auto half = round + std::max<int64_t>(1, static_cast<int64_t>(options.relabel.every * steps) / 2);
  EXPECT_TRUE(contains(at(half), "mirror")) << "judged";
  EXPECT_EQ(at(half + 1), "") << "once";
}

}  // namespace
}  // namespace crisp::test
