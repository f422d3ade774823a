// The branch that says which classes a photo shows: pooling, gate, files, what starts it.
#include "crisp/model/presence.h"

#include "crisp/model/cam_classifier.h"
#include "crisp/model/load.h"
#include "crisp/train/relabel.h"
#include "tests/model/tiny.h"
#include "tests/support/support.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::Segmenter with_presence(const std::string& row) {
  model::SegmenterConfig config = tiny_config(row);
  config.head.presence = true;
  torch::manual_seed(5);
  model::Segmenter network = model::make_segmenter(config);
  const torch::NoGradGuard no_grad;
  network->presence->scores->weight.normal_(0, 1);
  network->eval();
  return network;
}

TEST(Presence, TheMeanOfTheBestCellsKnowsPadding) {
  const torch::Tensor maps = torch::arange(10).to(torch::kFloat).view({1, 1, 2, 5});
  const torch::Tensor all = model::photo_share({}, maps);
  EXPECT_NEAR(model::mean_of_best(maps, all, 0.2).item<double>(), 8.5, 1e-6);
  EXPECT_NEAR(model::mean_of_best(maps, all, 0).item<double>(), 9, 1e-6) << "one cell at least";
  torch::Tensor photo = torch::ones({1, 1, 20, 50});
  photo.slice(3, 40).zero_();  // the last column of cells
  EXPECT_NEAR(model::mean_of_best(maps, model::photo_share(photo, maps), 0.2).item<double>(), 7.5, 1e-6);
}

TEST(Presence, TheGateHoldsBackWhatIsUnlikely) {
  const torch::Tensor refined = torch::zeros({1, 4, 1, 2});
  const torch::Tensor presence = torch::tensor({{0.0f, -3.0f, 2.0f}});
  const torch::Tensor gated = model::gated_by_presence(refined, presence, 0.5);
  const torch::Tensor expected =
      torch::tensor({0.0, 0.0, 0.5 * std::log(2 / (1 + std::exp(3.0))), 0.0}).view({1, 4, 1, 1});
  expect_close("gated", gated, expected.to(torch::kFloat).expand({1, 4, 1, 2}), 1e-6);
  expect_close("twice as strong", model::gated_by_presence(refined, presence, 1), 2 * gated, 1e-6);
  const torch::Tensor far = model::gated_by_presence(refined.to(torch::kHalf), presence * 1e4, 1);
  EXPECT_TRUE(torch::isfinite(far).all().item<bool>());
}

TEST(Presence, GatesInEvaluationAndOnlySpeaksInTraining) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor images = torch::randn({2, 3, 64, 96});
  for (const std::string row : {"A0", "A6"}) {
    model::Segmenter network = with_presence(row);
    const model::Features features = network->encoder->forward(images);
    const torch::Tensor plain = network->head->forward(features, {}).refined;
    const model::Prediction said = network->forward(images);
    ASSERT_EQ(said.presence.sizes(), (std::vector<int64_t>{2, 4})) << row;
    expect_close(row, said.refined, model::gated_by_presence(plain, said.presence, model::kPresenceStrength), 1e-5);
    const torch::Tensor alone = network->forward(images.narrow(0, 1, 1)).refined;
    expect_close("a photo by itself", alone, said.refined.narrow(0, 1, 1), 1e-4);
    network->train();
    const model::Prediction training = network->forward(images);
    EXPECT_TRUE(training.presence.defined());
    if (row == "A6") continue;  // it refines
    EXPECT_TRUE(training.refined.equal(training.logits));
  }
}

// Where nobody knows the tags views are gated as in inference; where they are known tags say it better.
TEST(Presence, GatesATeacherOfPhotosWithoutTagsAlone) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_presence("A6");
  const torch::Tensor images = torch::randn({1, 3, 32, 32});  // one cell
  const auto view = [&](bool presence) {
    return train::teacher_views(*network, {images, {}}, /*passes=*/1, {}, {1}, /*flip=*/false, presence)[0]
        .probabilities;
  };
  const torch::Tensor plain = network->head->forward(network->encoder->forward(images), {}).refined;
  expect_close("gated", view(true), torch::softmax(network->forward(images).refined, 1)[0], 1e-5);
  expect_close("not gated", view(false), torch::softmax(plain, 1)[0], 1e-5);
  EXPECT_GT((view(true) - view(false)).abs().max().item<double>(), 1e-2);
}

TEST(Presence, SmallPhotosHaveOneToo) {
  const torch::NoGradGuard no_grad;
  const model::Prediction said = with_presence("A6")->forward(torch::randn({1, 3, 9, 21}));
  EXPECT_EQ(said.presence.sizes(), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(said.refined.sizes(), (std::vector<int64_t>{1, 5, 3, 6}));
}

TEST(Presence, GoesThroughAFile) {
  const torch::NoGradGuard no_grad;
  const TemporaryFolder folder;
  const torch::Tensor images = torch::randn({1, 3, 64, 64});
  model::Segmenter network = with_presence("A6");
  model::save_segmenter(folder.path() / "m.safetensors", network);
  model::Segmenter again = model::load_segmenter(folder.path() / "m.safetensors");
  EXPECT_TRUE(again->config.head.presence);
  EXPECT_TRUE(again->forward(images).refined.equal(network->forward(images).refined));
}

TEST(Presence, StartsFromATagClassifierOfTheSameClasses) {
  const TemporaryFolder folder;
  model::CamClassifierConfig tags;
  tags.encoder = tiny_encoder();
  tags.classes = read_classes("5");
  model::CamClassifier classifier(tags);
  model::draw_weights(*classifier);
  const Path file = folder.path() / "tags.safetensors";
  model::save_classifier(file, classifier);
  model::Segmenter network = with_presence("A0");
  EXPECT_TRUE(model::load_presence(network, file));
  EXPECT_TRUE(network->presence->scores->weight.equal(classifier->classifier->weight));

  model::SegmenterConfig other = tiny_config("A0", 16, 4);
  other.head.presence = true;
  model::Segmenter fewer = model::make_segmenter(other);
  EXPECT_FALSE(model::load_presence(fewer, file)) << "other classes";
  model::save_segmenter(folder.path() / "model.safetensors", network);
  EXPECT_FALSE(model::load_presence(network, folder.path() / "model.safetensors")) << "no tag classifier";
}

}  // namespace
}  // namespace crisp::test
