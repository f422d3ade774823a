// The CrispFormer decoder against an independent PyTorch version (tests/goldens/model_crispformer.py).
#include "crisp/model/crispformer.h"

#include "crisp/tensor/state_dict.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

using model::HeadConfig;

HeadConfig row_config(const std::string& row) {
  const bool plain_row = row.size() == 2 && row[0] == 'a';
  HeadConfig head = model::ablation_row(plain_row ? "A" + row.substr(1) : "A5", 8, 5);
  head.dropout = 0;
  if (row == "literal") head.modulation = model::Modulation::kLiteral;
  if (row == "minmax") head.modulation_minmax = true;
  if (row == "cool") head.temperature = 0.7;
  if (row == "edge_e1") head.boundary_on_e1 = true;
  if (row == "u1" || row == "u0") {
    head.variance = false;
    head.uncertainty = row == "u1" ? model::UncertaintyInput::kEntropy : model::UncertaintyInput::kNone;
  }
  if (row == "concat" || row == "sum") {
    head = model::ablation_row("A1", 8, 5);
    head.fusion = row == "concat" ? model::Fusion::kConcat : model::Fusion::kMean;
  }
  return head;
}

// The golden file holds the parts of all variants; the head takes those it has.
model::CrispformerHead golden_head(const HeadConfig& config) {
  model::CrispformerHead head(tiny_encoder(), config);
  const tensor::StateDict all = read_golden("model/crisp_weights.safetensors");
  tensor::StateDict wanted;
  for (const auto& [name, value] : tensor::state_of(*head)) {
    const bool literal = name == "modulation" && config.modulation == model::Modulation::kLiteral;
    wanted.emplace(name, all.at(literal ? "literal.head.modulation" : "head." + name));
  }
  tensor::load_into(*head, wanted, "crisp_weights");
  return head;
}

model::Features features_of(const tensor::StateDict& golden, const std::string& prefix) {
  model::Features features;
  for (size_t i = 0; i < 4; ++i) features[i] = golden.at(prefix + "feature." + std::to_string(i)).clone();
  return features;
}

const std::map<std::string, torch::Tensor model::Prediction::*> kFields = {
    {"fused", &model::Prediction::fused},
    {"logits", &model::Prediction::logits},
    {"refined", &model::Prediction::refined},
    {"variance", &model::Prediction::variance},
    {"uncertainty", &model::Prediction::uncertainty},
    {"boundary", &model::Prediction::boundary},
    {"scale_weights", &model::Prediction::scale_weights},
    {"gate", &model::Prediction::gate}};

class DecoderRows : public testing::TestWithParam<std::string> {};

TEST_P(DecoderRows, MatchTheIndependentVersion) {
  const std::string row = GetParam();
  const tensor::StateDict expected = read_golden("model/crisp_eval.safetensors");
  model::CrispformerHead head = golden_head(row_config(row));
  head->eval();
  int compared = 0;
  for (const torch::Device& device : devices()) {
    head->to(device);
    for (const bool gradients : {false, true}) {
      const torch::AutoGradMode mode(gradients);
      for (const std::string size : {"36x44.", "64x64."}) {
        if (size == "64x64." && row != "a5") continue;
        model::Features features = features_of(expected, size);
        for (torch::Tensor& feature : features) feature = feature.to(device);
        const model::Prediction got = head->forward(features, {.boundary = true});
        for (const auto& [name, field] : kFields) {
          const auto golden = expected.find(row + "." + size + name);
          if (golden == expected.end()) continue;
          expect_close(golden->first, got.*field, golden->second);
          ++compared;
        }
      }
    }
  }
  EXPECT_GE(compared, 4) << "the golden has fields for this row";
}

INSTANTIATE_TEST_SUITE_P(Rows, DecoderRows,
                         testing::Values("a1", "a2", "a3", "a4", "a5", "literal", "minmax", "cool", "edge_e1", "u1",
                                         "u0", "concat", "sum"),
                         [](const auto& row) { return row.param; });

class DecoderGradients : public testing::TestWithParam<bool> {};

TEST_P(DecoderGradients, MatchTheIndependentVersion) {
  const bool detached = GetParam();
  const tensor::StateDict expected = read_golden("model/crisp_train.safetensors");
  model::CrispformerHead head = golden_head(row_config("a5"));
  head->train();
  model::Features features = features_of(expected, "");
  for (torch::Tensor& feature : features) feature.requires_grad_(true);
  const model::Prediction got = head->forward(features, {.detach_refiner = detached});
  torch::Tensor loss = torch::zeros({});
  for (const std::string name : {"logits", "refined", "variance", "boundary"}) {
    loss = loss + (got.*kFields.at(name) * expected.at("loss_weight." + name)).mean();
  }
  expect_close("loss", loss, expected.at("loss"));
  loss.backward();
  const auto golden_gradient = [&](const std::string& name) {
    const auto special = expected.find("detached.grad." + name);
    return detached && special != expected.end() ? special->second : expected.at("grad." + name);
  };
  const double floor = 1e-2 * expected.at("grad.feature.0").abs().max().item<double>();
  for (const auto& parameter : head->named_parameters()) {
    expect_close(parameter.key(), parameter.value().grad(), golden_gradient("head." + parameter.key()), 1e-4, floor);
  }
  for (size_t i = 0; i < 4; ++i) {
    const std::string name = "feature." + std::to_string(i);
    expect_close(name, features[i].grad(), golden_gradient(name), 1e-4);
  }
  for (const auto& buffer : head->named_buffers()) {
    const auto after = expected.find("after.head." + buffer.key());
    if (after != expected.end()) expect_close(buffer.key(), buffer.value(), after->second);
  }
}

INSTANTIATE_TEST_SUITE_P(Refiner, DecoderGradients, testing::Bool());

TEST(Decoder, LiteralModulationChangesNothing) {
  // The paper subtracts the same alpha * U from all four scores, which a softmax cancels.
  torch::manual_seed(3);
  model::CrispformerHead plain = golden_head(row_config("a4")), literal = golden_head(row_config("literal"));
  plain->eval();
  literal->eval();
  {
    const torch::NoGradGuard no_grad;
    literal->modulation.fill_(5);
  }
  const model::Features features = features_of(read_golden("model/crisp_eval.safetensors"), "64x64.");
  expect_close("scale weights", literal->forward(features, {}).scale_weights,
               plain->forward(features, {}).scale_weights, 1e-6);
  expect_close("refined", literal->forward(features, {}).refined, plain->forward(features, {}).refined, 1e-5);
}

TEST(Decoder, StartsAsPlainFusion) {
  torch::manual_seed(4);
  model::Segmenter network = model::make_segmenter(tiny_config("A6"));
  network->eval();
  const torch::NoGradGuard no_grad;
  const model::Prediction got = network->forward(torch::randn({1, 3, 64, 64}), {.boundary = true});
  EXPECT_TRUE(torch::allclose(got.refined, got.logits)) << "the refiner's last layer starts at zero";
  EXPECT_NEAR(got.gate.mean().item<double>(), 1 / (1 + std::exp(2.0)), 0.05);
  EXPECT_NEAR(got.variance.mean().item<double>(), 1.0, 0.1);
  // U-DMF starts with the same alpha for all, which cancels: equal weights.
  EXPECT_NEAR((got.scale_weights - 0.25).abs().max().item<double>(), 0, 1e-6);
  const auto* head = dynamic_cast<model::CrispformerHeadImpl*>(network->head.get());
  EXPECT_NEAR(torch::softplus(head->modulation)[0].item<double>(), 0.1, 1e-6);
}

TEST(Decoder, DropoutMaskIsSharedByAllHeadsAndOffInEvaluation) {
  model::CrispformerHead head = golden_head(row_config("a4"));
  head->eval();
  const torch::NoGradGuard no_grad;
  const model::Features features = features_of(read_golden("model/crisp_eval.safetensors"), "36x44.");
  const torch::Tensor once = head->forward(features, {}).logits;
  EXPECT_TRUE(torch::equal(once, head->forward(features, {}).logits));

  HeadConfig dropping = row_config("a4");
  dropping.dropout = 0.5;
  model::CrispformerHead sampled = golden_head(dropping);
  sampled->eval();
  torch::manual_seed(5);
  const torch::Tensor fused = sampled->forward(features, {.sample_dropout = true}).fused;
  const torch::Tensor plain = sampled->forward(features, {}).fused;
  for (int64_t c = 0; c < fused.size(1); ++c) {  // each channel whole: gone, or scaled by 1 / (1 - p)
    const bool gone = fused[0][c].abs().max().item<float>() == 0;
    if (!gone) expect_close("kept channel", fused[0][c], plain[0][c] * 2, 1e-5);
  }
  EXPECT_GT((fused - plain).abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace crisp::test
