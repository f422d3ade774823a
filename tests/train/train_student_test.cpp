// What stands before a student's training: options, weights and data that make no sense leave no run folder behind.
#include "crisp/flow/train_student.h"

#include "crisp/data/synth.h"
#include "tests/train/student_fixture.h"

namespace crisp::test {
namespace {

class TrainStudent : public testing::Test {
 protected:
  TrainStudent() {
    data::render_dataset({.images = 5, .size = 64, .classes = 4, .seed = 3}, at("photos"), 2);
    make_seeds("seeds", data::open_dataset(at("photos")).classes);
    make_seeds("other_seeds", {"background", "cat", "dog", "cow"});
    options_.data = at("photos");
    options_.seeds = at("seeds");
    options_.out = at("run");
    options_.arch = "mit_b0";
    options_.width = 8;
    options_.task.augment = untouched(32);
    options_.task.batch = 2;
    options_.trainer.epochs = 1;
  }

  void make_seeds(const std::string& name, const ClassNames& classes) const {
    const data::Dataset dataset = data::open_dataset(at("photos"));
    data::SeedWriter writer(at(name), {.data = at("photos").string(), .classes = classes});
    std::vector<std::string> ids;
    for (const data::Sample& sample : dataset.all) {
      const image::Mask mask = dataset.read_mask(sample);
      writer.write(sample.id, {mask, image::Mask(mask.width, mask.height)});
      ids.push_back(sample.id);
    }
    writer.finish(ids, 1);
  }

  // What is said about a change of the options; the run folder must not exist after it.
  std::string mistake(const std::function<void(flow::StudentOptions&)>& change) const {
    flow::StudentOptions o = options_;
    change(o);
    testing::internal::CaptureStderr();
    const std::string said = error_of([&] { flow::train_student(o, torch::kCPU, [] { return false; }); });
    testing::internal::GetCapturedStderr();
    EXPECT_FALSE(std::filesystem::exists(at("run"))) << said;
    return said;
  }

  Path at(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
  flow::StudentOptions options_;
};

TEST_F(TrainStudent, WhatMakesNoSenseLeavesNoFolder) {
  using O = flow::StudentOptions;
  const std::vector<std::pair<std::function<void(O&)>, std::string>> cases = {
      {[](O& o) { o.seeds.clear(); }, "--seeds is needed"},
      {[&](O& o) { o.seeds = at("nothing"); }, "no seeds.json in it"},
      {[&](O& o) { o.seeds = at("other_seeds"); },
       "other_seeds: seeds of other classes: background, cat, dog, cow; the data set has"},
      {[](O& o) { o.labels = "pixels"; }, "--labels pixels: it is seeds or masks"},
      {[&](O& o) { o.init = at("none.safetensors").string(); }, "none.safetensors"},
      {[&](O& o) { o.init = (at("photos") / "tags.txt").string(); }, "tags.txt"},
      {[](O& o) { o.arch = "mit_b9"; }, "unknown arch 'mit_b9'"},
      {[](O& o) { o.arch = "mit_b4"; }, "--init is needed: no mit_b4 weights are shipped"},
      {[](O& o) { o.ablation = "A9"; }, "unknown ablation row 'A9'"},
      {[](O& o) { o.uncertainty = "U9"; }, "--uncertainty U9"},
      {[](O& o) { o.ablation = "A0", o.fusion = "glue"; }, "--fusion glue: it is one of dmf, concat, mean"},
      {[](O& o) { o.modulation = "loud"; }, "--modulation loud"},
      {[](O& o) { o.task.phases.weighting = 3; }, "--weighting-from 3"},
      {[](O& o) { o.task.relabel.threshold = 7; }, "--tau 7"},
      {[](O& o) { o.task.augment.crop = 0; }, "--crop 0"},
      {[](O& o) { o.task.augment.crop = 7; }, "--crop 7"},
      {[](O& o) { o.task.encoder_rate = -1; }, "--rate -1"},
      {[](O& o) { o.task.head_rate = std::numeric_limits<double>::quiet_NaN(); }, "--head-rate nan"},
      {[](O& o) { o.task.loss.dice = -1; }, "Dice"},
      {[](O& o) { o.task.infer_batch = 0; }, "--infer-batch 0"},
      {[](O& o) { o.trainer.epochs = 0; }, "--epochs 0"},
      {[](O& o) { o.trainer.schedule.decay = "slowly"; }, "--decay slowly"},
      {[](O& o) { o.select = "best"; }, "--select best: it is one of last, masks"},
      {[](O& o) { o.select = "masks", o.val = "none"; }, "--select masks: there are no validation photos with masks"},
      {[](O& o) { o.select = "masks", o.trainer.validate_every = 0; }, "--validate-every 0 makes none"},
      {[](O& o) { o.trainer.amp = "f8"; }, "f8"},
      {[](O& o) { o.split = "nowhere"; }, "nowhere"},
      {[](O& o) { o.val = "nowhere"; }, "nowhere"},
  };
  for (const auto& [change, message] : cases) {
    const std::string said = mistake(change);
    EXPECT_TRUE(contains(said, message)) << "expected: " << message << "\n     said: " << said;
  }
}

TEST_F(TrainStudent, PresetsAreThoseOfTheMethod) {
  flow::StudentOptions o;
  flow::apply_preset("paper", o);
  EXPECT_EQ(o.task.encoder_rate, 6e-6);
  EXPECT_EQ(o.task.head_rate, 6e-5);
  EXPECT_EQ(o.task.weight_decay, 1e-4);
  EXPECT_EQ(o.trainer.schedule.decay, "cosine");
  flow::apply_preset("segformer", o);
  EXPECT_EQ(o.task.encoder_rate, 6e-5);
  EXPECT_EQ(o.task.head_rate, 6e-4);
  EXPECT_EQ(o.task.weight_decay, 0.01);
  EXPECT_EQ(o.trainer.schedule.decay, "poly");
  EXPECT_TRUE(contains(error_of([&] { flow::apply_preset("hasty", o); }), "--preset hasty: it is segformer or paper"));
}

}  // namespace
}  // namespace crisp::test
