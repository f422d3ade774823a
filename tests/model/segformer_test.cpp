// MiT and the SegFormer head against Hugging Face transformers (tests/goldens/model_hf.py).
#include "crisp/model/mit.h"
#include "crisp/tensor/state_dict.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::Segmenter golden_network() {
  model::Segmenter network(tiny_config("A0"));
  tensor::load_into(*network, read_golden("model/hf_weights.safetensors"), "hf_weights");
  return network;
}

class SegformerSizes : public testing::TestWithParam<std::string> {};

TEST_P(SegformerSizes, FeaturesAndLogitsMatchTransformers) {
  model::Segmenter network = golden_network();
  network->eval();
  const tensor::StateDict expected = read_golden("model/hf_eval.safetensors");
  for (const torch::Device& device : devices()) {
    network->to(device);
    const torch::Tensor input = expected.at(GetParam() + ".input").to(device);
    for (const bool gradients : {false, true}) {  // the folded and the plain way through the head
      const torch::AutoGradMode mode(gradients);
      const model::Features features = network->encoder->forward(input);
      for (size_t i = 0; i < 4; ++i) {
        const std::string name = GetParam() + ".stage." + std::to_string(i);
        expect_close(name, features[i], expected.at(name));
      }
      expect_close("logits", network->forward(input).logits, expected.at(GetParam() + ".logits"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SegformerSizes, testing::Values("64x64", "33x47", "96x64"));

TEST(Segformer, EveryGradientMatchesTransformers) {
  model::Segmenter network = golden_network();
  network->train();
  const tensor::StateDict expected = read_golden("model/hf_train.safetensors");
  const torch::Tensor input = read_golden("model/hf_eval.safetensors").at("64x64.input").clone().requires_grad_(true);
  const torch::Tensor logits = network->forward(input).logits;
  expect_close("logits", logits, expected.at("logits"));
  const torch::Tensor loss = (logits * expected.at("loss_weight")).mean();
  expect_close("loss", loss, expected.at("loss"));
  loss.backward();
  const double floor = expected.at("input_grad").abs().max().item<double>();
  expect_close("input", input.grad(), expected.at("input_grad"));
  int compared = 0;
  for (const auto& parameter : network->named_parameters()) {
    expect_close(parameter.key(), parameter.value().grad(), expected.at("grad." + parameter.key()), 1e-4, floor);
    ++compared;
  }
  EXPECT_EQ(compared, 133);
  for (const auto& buffer : network->named_buffers()) {
    const auto after = expected.find("after." + buffer.key());
    if (after != expected.end()) expect_close(buffer.key(), buffer.value(), after->second);
  }
}

TEST(Segformer, SmallSidesArePaddedAndCropped) {
  model::Segmenter network = golden_network();
  network->eval();
  const torch::NoGradGuard no_grad;
  for (const auto& [height, width] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 400}, {31, 32}, {5, 77}}) {
    const torch::Tensor logits = network->forward(torch::randn({1, 3, height, width})).logits;
    EXPECT_EQ(logits.size(2), (height + 3) / 4);
    EXPECT_EQ(logits.size(3), (width + 3) / 4);
    EXPECT_TRUE(torch::isfinite(logits).all().item<bool>());
  }
}

TEST(Segformer, HalfPrecisionStaysClose) {
  const torch::NoGradGuard no_grad;
  const tensor::StateDict expected = read_golden("model/hf_eval.safetensors");
  for (const torch::Device& device : devices()) {
    for (const auto type : {torch::kBFloat16, torch::kHalf}) {
      model::Segmenter half = golden_network();
      half->eval();
      half->to(device, type);
      const torch::Tensor logits = half->forward(expected.at("64x64.input").to(device, type)).logits;
      EXPECT_EQ(logits.scalar_type(), type);
      expect_close("logits", logits, expected.at("64x64.logits"), type == torch::kHalf ? 0.01 : 0.08);
    }
  }
}

TEST(Segformer, StochasticDepthDropsWholeSamples) {
  model::SegmenterConfig config = tiny_config("A0");
  config.encoder.drop_path = 0.999999;
  torch::manual_seed(1);
  model::Segmenter network = model::make_segmenter(config);
  network->train();
  // The first block never drops; the last is all but certain to, and what is left is its input.
  model::Block block(8, 2, 1, 4, 0.999999, 1e-5);
  model::draw_weights(*block);
  const torch::Tensor tokens = torch::randn({2, 9, 8});
  EXPECT_TRUE(torch::equal(block->forward(tokens, 3, 3), tokens));
  block->eval();
  EXPECT_FALSE(torch::equal(block->forward(tokens, 3, 3), tokens));
}

}  // namespace
}  // namespace crisp::test
