// The second network that says which classes a photo shows: its features, its gate, files, relabelling, cost.
#include "crisp/model/recogniser.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "crisp/infer/predictor.h"
#include "crisp/model/cost.h"
#include "crisp/model/load.h"
#include "crisp/tensor/safetensors.h"
#include "crisp/train/relabel.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The photo of tests/goldens/model_efficientnet.py, as networks take it.
torch::Tensor rings(int64_t height, int64_t width) {
  const torch::Tensor y = torch::arange(height).view({-1, 1}), x = torch::arange(width).view({1, -1});
  std::vector<torch::Tensor> channels;
  for (int64_t c = 0; c < 3; ++c) {
    const torch::Tensor squared = (x - 20 * c).square() + (y - 9 * c - 5).square();
    channels.push_back(torch::div(squared, 7 + c, "floor").remainder(256));
  }
  return infer::normalised(torch::stack(channels, 2).to(torch::kUInt8).unsqueeze(0));
}

model::EfficientNetLite shipped_lite2() {
  const tensor::NamedTensors file =
      tensor::read_safetensors(project_folder() / "weights" / "efficientnet_lite2.safetensors");
  EXPECT_EQ(file.metadata.at("recogniser"), "efficientnet_lite2");
  model::EfficientNetLite network("efficientnet_lite2");
  tensor::load_into(*network, file.tensors, "efficientnet_lite2");
  return network;
}

TEST(EfficientNetLite, TheShippedOneSeesWhatItsAuthorsDoes) {
  const torch::NoGradGuard no_grad;
  const tensor::StateDict golden = read_golden("model/efficientnet_lite2.safetensors");
  model::EfficientNetLite network = shipped_lite2();
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{260, 260}, {96, 64}, {75, 101}}) {
    const std::string size = std::to_string(height) + "x" + std::to_string(width);
    const torch::Tensor features = network->forward(rings(height, width))[0];
    ASSERT_EQ(features.sizes(), (std::vector<int64_t>{1280, (height + 31) / 32, (width + 31) / 32}));
    // Weights in fp16.
    const auto difference = [&](const torch::Tensor& got, const std::string& what) {
      return (got - golden.at(size + what)).abs().max().item<double>();
    };
    EXPECT_LT(difference(features.mean(0), ".cells"), 2e-3) << size;
    EXPECT_LT(difference(features.mean({1, 2}).narrow(0, 0, 32), ".channels"), 2e-2) << size;
  }
}

TEST(EfficientNetLite, CostsWhatTheFlopCounterSays) {
  const auto facts = nlohmann::json::parse(read_text(golden("goldens/model/efficientnet_lite2.json")));
  model::SegmenterConfig config = tiny_config("A0");
  config.head.recogniser = "efficientnet_lite2";
  int compared = 0;
  for (const auto& [zoom, height, width] : {std::tuple{1.0, 260, 260}, {1.0, 96, 64}, {2.0, 150, 202}}) {
    config.head.zoom = zoom;
    model::Segmenter network(config);
    const std::string size = fmt::format("{}x{}", height / zoom, width / zoom);
    for (const model::PartCost& part : model::cost_of(network, height, width)) {
      if (part.name != "recogniser") continue;
      const int64_t layer = 2 * 1280 * 4;  // of 5 classes
      EXPECT_EQ(part.parameters, facts["parameters"].get<int64_t>() + layer + 4);
      EXPECT_EQ(part.macs, facts["macs"][size].get<int64_t>() + layer) << size;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3);
}

TEST(EfficientNetLite, AnUnknownOneIsRefused) {
  EXPECT_EQ(model::bottlenecks("efficientnet_lite0").size(), 16u);
  EXPECT_EQ(model::bottlenecks("efficientnet_lite2").size(), 21u);
  EXPECT_TRUE(contains(error_of([] { model::bottlenecks("efficientnet_lite9"); }), "known are efficientnet_lite0"));
}

// A drawn network whose recogniser says `bias` of every photo, or, without one, what its layer makes of it.
model::Segmenter with_recogniser(const std::string& row, const std::vector<float>& bias, double zoom = 1) {
  model::SegmenterConfig config = tiny_config(row);
  config.head.recogniser = "efficientnet_lite0";
  config.head.presence = true;
  config.head.zoom = zoom;
  torch::manual_seed(8);
  model::Segmenter network = model::make_segmenter(config);
  const torch::NoGradGuard no_grad;
  for (auto& item : network->recogniser->network->named_parameters()) {  // drawn ones fade: 1x1 kernels are small
    const double fan_in = static_cast<double>(item.value()[0].numel());
    if (item.value().dim() > 1) item.value().normal_(0, std::sqrt(2 / fan_in));
  }
  if (bias.empty()) {
    network->recogniser->scores->weight.normal_(0, 1);
    network->recogniser->scores->bias.fill_(-2);
  } else {
    network->recogniser->scores->weight.zero_();
    network->recogniser->scores->bias.copy_(torch::tensor(bias));
  }
  network->eval();
  return network;
}

// The same without its recogniser.
model::Segmenter plain_twin(const model::Segmenter& network) {
  model::SegmenterConfig config = network->config;
  config.head.recogniser.clear();
  model::Segmenter twin(config);
  tensor::load_into(*twin, tensor::state_of(*network), "the network",
                    {.may_be_missing = {}, .may_be_extra = {"recogniser."}});
  twin->eval();
  return twin;
}

TEST(Recogniser, WhatItRulesOutLosesLogTwoSigmoidInEvaluationAndNothingInTraining) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(9);
  const torch::Tensor images = torch::randn({2, 3, 64, 96});
  for (const std::string row : {"A0", "A6"}) {
    model::Segmenter network = with_recogniser(row, {0, -20, 1, -1}), twin = plain_twin(network);
    const torch::Tensor lost = network->forward(images).refined - twin->forward(images).refined;
    const torch::Tensor expected = torch::tensor(
        {0.0, 0.0, std::log(2 / (1 + std::exp(20.0))), 0.0, std::log(2 / (1 + std::exp(1.0)))}, torch::kFloat);
    EXPECT_NEAR(expected[2].item<double>(), -19.30685, 1e-4);
    expect_close(row, lost, expected.view({1, 5, 1, 1}).expand_as(lost), 1e-6);
    network->train();
    twin->train();
    EXPECT_TRUE(network->forward(images).refined.equal(twin->forward(images).refined)) << row;
    EXPECT_FALSE(network->recognised(images).defined());
  }
}

TEST(Recogniser, PoolsTheMeanAndTheBestCells) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_recogniser("A0", {});
  const torch::Tensor images = rings(96, 160);  // 3 x 5 cells, the best 20% are 3
  const torch::Tensor maps = network->recogniser->network->forward(images).flatten(2);
  const torch::Tensor best = std::get<0>(maps.sort(2, true)).narrow(2, 0, 3).mean(2);
  const torch::Tensor pooled = network->recogniser->pooled(images);
  expect_close("pooled", pooled, torch::cat({maps.mean(2), best}, 1), 1e-5);
  EXPECT_GT((best - maps.mean(2)).abs().max().item<double>(), 1e-3);
  const model::Linear& layer = network->recogniser->scores;
  expect_close("logits", network->recognised(images), pooled.matmul(layer->weight.t()) + layer->bias, 1e-5);
}

TEST(Recogniser, SeesEnlargedPhotosInTheirOwnSize) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_recogniser("A6", {}, 2);
  const torch::Tensor images = rings(128, 192), own = network->before_zoom(images);
  ASSERT_EQ(own.sizes(), (std::vector<int64_t>{1, 3, 64, 96}));
  const torch::Tensor said = network->recogniser->forward(infer::rescaled(images, 0.5));
  EXPECT_TRUE(network->recognised(images).equal(said));
  EXPECT_FALSE(torch::allclose(said, network->recogniser->forward(images), 1e-2, 1e-2));
  const torch::Tensor plain = plain_twin(network)->forward(images).refined;
  const torch::Tensor gated = network->forward(images).refined;
  expect_close("gated", gated, model::gated_by_presence(plain, said, 1), 1e-5);
  EXPECT_GT((gated - plain).abs().max().item<double>(), 0.1);
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{9, 21}, {1, 1}, {33, 5}}) {
    const torch::Tensor small = network->forward(rings(height, width)).refined;
    EXPECT_EQ(small.sizes(), (std::vector<int64_t>{1, 5, (height + 3) / 4, (width + 3) / 4}));
    EXPECT_TRUE(torch::isfinite(small).all().item<bool>());
  }
  EXPECT_TRUE(with_recogniser("A0", {})->before_zoom(images).is_same(images)) << "nothing to undo";
}

TEST(Recogniser, GoesThroughAFile) {
  const torch::NoGradGuard no_grad;
  const TemporaryFolder folder;
  const Path file = folder.path() / "m.safetensors";
  const torch::Tensor images = rings(64, 96);
  model::Segmenter network = with_recogniser("A6", {}, 1.5);
  model::save_segmenter(file, network);
  model::Segmenter again = model::load_segmenter(file);
  EXPECT_EQ(again->config.head.recogniser, "efficientnet_lite0");
  EXPECT_TRUE(again->forward(images).refined.equal(network->forward(images).refined));
  EXPECT_FALSE(plain_twin(again)->forward(images).refined.equal(network->forward(images).refined));

  // What a file says of itself goes on to what is made of it, and so does its precision.
  const Path changed = folder.path() / "changed.safetensors";
  model::save_changed(changed, network, file, {});
  EXPECT_EQ(tensor::read_safetensors(changed).tensors.at("head.classifier.weight").scalar_type(), torch::kFloat);
  model::save_segmenter(file, network, torch::kHalf, {{"labels", "masks"}, {"by", "one"}});
  model::save_changed(changed, network, file, {{"by", "another"}});
  const tensor::NamedTensors read = tensor::read_safetensors(changed);
  EXPECT_EQ(read.tensors.at("head.classifier.weight").scalar_type(), torch::kHalf);
  EXPECT_EQ(read.metadata.at("labels"), "masks");
  EXPECT_EQ(read.metadata.at("by"), "another");
  expect_close("half", model::load_segmenter(changed)->forward(images).refined, network->forward(images).refined, 0.05);
}

// Files from before there were recognisers do not name the option.
TEST(Recogniser, OldFilesHaveNone) {
  const torch::NoGradGuard no_grad;
  const TemporaryFolder folder;
  const Path file = folder.path() / "old.safetensors";
  model::Segmenter network = plain_twin(with_recogniser("A6", {}));
  auto options = nlohmann::json::parse(model::to_json_text(network->config.head));
  ASSERT_EQ(options.erase("recogniser"), 1u);
  const auto write = [&] {
    tensor::write_model_file(file, tensor::state_of(*network),
                             {.arch = "custom",
                              .head = "crispformer",
                              .width = network->config.head.width,
                              .classes = network->config.classes,
                              .options = options.dump()},
                             torch::kFloat);
  };
  write();
  model::Segmenter again = model::load_segmenter(file);
  EXPECT_EQ(again->config.head.recogniser, "");
  EXPECT_TRUE(again->recogniser.is_empty());
  const torch::Tensor images = rings(64, 96);
  EXPECT_TRUE(again->forward(images).refined.equal(network->forward(images).refined));
  options["recogniser"] = "resnet50";
  write();
  EXPECT_TRUE(contains(error_of([&] { model::load_segmenter(file); }), "resnet50: not a known recogniser"));
}

// Where nobody knows the tags views are gated as in inference; where they are known tags say it better.
TEST(Recogniser, GatesATeacherOfPhotosWithoutTagsAlone) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_recogniser("A6", {}), twin = plain_twin(network);
  const torch::Tensor images = rings(64, 96);
  const auto view = [&](model::Segmenter& teacher, bool presence) {
    return train::teacher_views(*teacher, {images, {}}, /*passes=*/1, {}, {1}, /*flip=*/false, presence)[0]
        .probabilities;
  };
  expect_close("gated", view(network, true), torch::softmax(network->forward(images).refined, 1)[0], 1e-5);
  EXPECT_GT((view(network, true) - view(twin, true)).abs().max().item<double>(), 1e-2);
  EXPECT_TRUE(view(network, false).equal(view(twin, false)));
}

}  // namespace
}  // namespace crisp::test
