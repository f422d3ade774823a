#pragma once

#include <functional>
#include <memory>

#include "crisp/tensor/safetensors.h"
#include "crisp/train/trainer.h"

namespace crisp::test {

struct TinyNetImpl : torch::nn::Module {
  TinyNetImpl() {
    conv = register_parameter("conv", torch::randn({4, 3, 3, 3}) * 0.2);
    norm = register_module("norm", torch::nn::BatchNorm2d(4));
    last = register_parameter("last", torch::randn({1, 4}) * 0.5);
    bias = register_parameter("bias", torch::zeros({1}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor means = torch::relu(norm->forward(torch::conv2d(x, conv))).mean({2, 3});
    return torch::linear(torch::dropout(means, 0.25, is_training()), last, bias);
  }

  torch::Tensor conv, last, bias;
  torch::nn::BatchNorm2d norm{nullptr};
};
TORCH_MODULE(TinyNet);

// Learns the mean brightness of noise: batch norm, dropout, randomness in the data, and a teacher where asked.
class TinyTask : public train::Task {
 public:
  // Called with the step, the input, and the loss of a batch: tests spoil what they like.
  using Spoil = std::function<void(int64_t step, torch::Tensor& input)>;
  using SpoilLoss = std::function<void(int64_t step, torch::Tensor& loss)>;

  explicit TinyTask(bool teacher = false, int workers = 2)
      : loader_(13, [](size_t index, Rng& rng) { return example(index, rng); },
                {.batch = 2, .workers = workers, .seed = 3, .shuffle = true}) {
    torch::manual_seed(1);
    network_ = TinyNet();
    if (teacher) teacher_ = std::make_shared<TinyNetImpl>();
  }

  std::string name() const override { return "tiny"; }
  torch::nn::Module& network() override { return *network_; }
  torch::nn::Module* teacher() override { return teacher_.get(); }
  std::vector<train::ParameterGroup> groups() override { return {train::group_of("all", *network_, "", 0.02, 0.01)}; }
  data::Loader& loader() override { return loader_; }

  train::Losses losses(const std::vector<data::Example>& batch, const train::Moment& now) override {
    torch::Tensor input = torch::empty({static_cast<int64_t>(batch.size()), 3, 8, 8});
    for (size_t i = 0; i < batch.size(); ++i) {
      for (int64_t k = 0; k < 192; ++k) {
        input[static_cast<int64_t>(i)].view({-1}).data_ptr<float>()[k] =
            static_cast<float>(batch[i].image.rgb[static_cast<size_t>(k)]) / 255.0f;
      }
    }
    if (spoil) spoil(now.step, input);
    const torch::Tensor target = input.mean({1, 2, 3}).unsqueeze(1);
    torch::Tensor square = (network_->forward(input) - target.nan_to_num(0, 0, 0)).square().mean();
    if (spoil_loss) spoil_loss(now.step, square);
    return {square, {{"square", square.detach()}}};
  }

  train::Numbers validate(const train::Moment& now) override { return {{"step", static_cast<double>(now.step)}}; }
  tensor::Metadata state() const override { return {{"memory", "kept"}}; }
  void restore(const tensor::Metadata& facts) override { restored = facts.at("memory"); }
  void save(const Path& file) override {
    tensor::StateDict all;
    train::add_with_prefix(all, "network.", tensor::state_of(*network_));
    if (teacher_) train::add_with_prefix(all, "teacher.", tensor::state_of(*teacher_));
    tensor::write_safetensors(file, all);
  }

  Spoil spoil;
  SpoilLoss spoil_loss;
  std::string restored;

 private:
  static data::Example example(size_t index, Rng& rng) {
    data::Example made;
    made.id = "photo" + std::to_string(index);
    made.image = image::Image(8, 8);
    for (uint8_t& value : made.image.rgb)
      value = static_cast<uint8_t>(rng.below(64) + static_cast<int64_t>(14 * index));
    return made;
  }

  data::Loader loader_;
  TinyNet network_{nullptr};
  std::shared_ptr<TinyNetImpl> teacher_;
};

}  // namespace crisp::test
