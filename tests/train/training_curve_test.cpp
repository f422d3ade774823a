// Ten steps of the student against an independent PyTorch version (tests/goldens/student.py), which switches the
// refiner's gradients on at step 2, the weighting by uncertainty at 3, the modulation of the fusion at 5.
#include "tests/train/student_fixture.h"

namespace crisp::test {
namespace {

class TrainingCurve : public testing::Test {
 protected:
  TrainingCurve() : golden_(read_golden("student/curve.safetensors")) {
    dataset_.classes = read_classes("5");
    data::SeedWriter writer(folder_.path() / "seeds", {.classes = dataset_.classes});
    std::vector<std::string> ids;
    for (int64_t i = 0; i < 5; ++i) {
      data::Sample sample;
      sample.id = std::to_string(i);
      sample.image = folder_.path() / (sample.id + ".png");
      image::Image photo(64, 64);
      copy_bytes(golden_.at("photos")[i], photo.rgb);
      image::write_rgb_png(sample.image, photo);
      data::Seed seed{image::Mask(64, 64), image::Mask(64, 64)};
      copy_bytes(golden_.at("labels")[i], seed.labels.labels);
      copy_bytes(golden_.at("uncertainty")[i], seed.uncertainty.labels);
      writer.write(sample.id, seed);
      ids.push_back(sample.id);
      data_.train.push_back(std::move(sample));
    }
    writer.finish(ids, 1);
    data_.dataset = &dataset_;
    data_.seeds.emplace(folder_.path() / "seeds");
    options_.batch = 2;
    options_.seed = 17;
    options_.encoder_rate = 1e-3;
    options_.head_rate = 4e-3;
    options_.weight_decay = 0.05;
    options_.augment = untouched();
    options_.loss.surface = 0.1;
    options_.phases = {.refiner_attached = 0.2, .weighting = 0.3, .modulation = 0.5};
    options_.relabel.on = false;
  }

  static void copy_bytes(const torch::Tensor& from, std::vector<uint8_t>& to) {
    std::copy_n(from.contiguous().const_data_ptr<uint8_t>(), to.size(), to.begin());
  }

  tensor::StateDict golden(const std::string& prefix) const { return train::with_prefix(golden_, prefix); }

  const tensor::StateDict golden_;
  TemporaryFolder folder_;
  data::Dataset dataset_;
  train::SegmentData data_;
  train::SegmentOptions options_;
};

TEST_F(TrainingCurve, TheStepsSeeTheSamePhotos) {
  train::SegmentTask task(drawn(small_student("A5", "U4", 5)), drawn(small_student("A5", "U4", 5)), data_, options_,
                          torch::kCPU, folder_.path());
  for (int64_t step = 0; step < 10; ++step) {
    const std::vector<data::Example> batch = task.loader().next();
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(batch[static_cast<size_t>(i)].id, std::to_string(golden_.at("order")[step][i].item<int64_t>()));
    }
  }
}

TEST_F(TrainingCurve, LossesGradientsAndWeightsAgree) {
  for (const torch::Device device : devices()) {
    const Path run = folder_.path() / device.str();
    make_folder(run);
    model::Segmenter student(small_student("A5", "U4", 5)), teacher(small_student("A5", "U4", 5));
    tensor::load_into(*student, golden("start."), "the golden");
    train::SegmentTask task(student, teacher, data_, options_, device, run);
    train::TrainerOptions o;
    o.epochs = 5;
    o.clip = 5;
    o.schedule.decay = "poly";
    o.seed = 17;
    train::Trainer trainer(task, o, device, run);
    ASSERT_TRUE(trainer.run([] { return false; }));

    const std::vector<report::LogRecord> log = report::read_run_log(run / "log.jsonl");
    ASSERT_EQ(log.size(), 10u);
    for (const std::string field :
         {"loss", "cross_entropy", "dice", "surface", "heteroscedastic", "boundary", "gradient_norm", "rate"}) {
      for (int64_t step = 0; step < 10; ++step) {
        const double expected = golden_.at("curve." + field)[step].item<double>();
        EXPECT_NEAR(log[static_cast<size_t>(step)].number(field).value_or(-1), expected, 1e-4 * std::abs(expected))
            << field << " of step " << step;
      }
    }
    // Keys' biases (a softmax ignores them) and a bias that only a batch norm sees have a gradient of zero, which AdamW
    // blows up to steps of noise; nothing depends on them but that batch norm's mean.
    const auto is_noise = [](const std::string& name) {
      return contains(name, "attn.kv.bias") || contains(name, "stages.3.norm.bias") ||
             contains(name, "project.3.norm.running_mean");
    };
    const auto compare = [&](const tensor::StateDict& got, const tensor::StateDict& expected) {
      size_t compared = 0;
      for (const auto& [name, value] : expected) {
        if (is_noise(name)) continue;
        expect_close(name, got.at(name), value, 1e-4, 0.1);
        ++compared;
      }
      EXPECT_GT(compared, 120u);
    };
    compare(tensor::state_of(*student), golden("student."));
    compare(tensor::read_safetensors(run / "model.safetensors").tensors, golden("teacher."));
  }
}

}  // namespace
}  // namespace crisp::test
