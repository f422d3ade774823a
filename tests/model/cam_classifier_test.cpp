// The tag classifier and the affinity network: pooling by hand, files, and what they are told apart by.
#include "crisp/model/cam_classifier.h"

#include "crisp/base/error.h"
#include "crisp/model/affinity_net.h"
#include "crisp/model/load.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::CamClassifier classifier(model::Pooling pooling, double top_share = 0.2) {
  model::CamClassifierConfig config;
  config.encoder = tiny_encoder();
  config.encoder.strides[3] = 1;
  config.pooling = pooling;
  config.top_share = top_share;
  config.classes = {"background", "cat", "dog"};
  torch::manual_seed(4);
  model::CamClassifier network(config);
  model::draw_weights(*network);
  network->eval();
  return network;
}

// One map of 2 x 4 cells a class, and a photo that covers three columns, the third by half and a quarter of the last.
const torch::Tensor kMaps = torch::tensor({1.0f, 2.0f, 4.0f, 50.0f, 3.0f, 6.0f, 8.0f, -70.0f,  //
                                           -1.0f, -2.0f, -4.0f, 9.0f, -3.0f, -6.0f, -8.0f, 9.0f})
                                .view({1, 2, 2, 4});

torch::Tensor photo() {
  torch::Tensor mask = torch::zeros({1, 1, 32, 64});
  mask.narrow(3, 0, 40).fill_(1);  // columns of 16 pixels: 1, 1, 0.5, 0
  return mask;
}

void expect_scores(const torch::Tensor& got, float first, float second) {
  EXPECT_NEAR(got[0][0].item<double>(), first, 1e-5);
  EXPECT_NEAR(got[0][1].item<double>(), second, 1e-5);
}

TEST(CamClassifier, PaddingTakesNoPartInPooling) {
  // Average, cells weighted by their share of the photo: (1 + 2 + 3 + 6 + (4 + 8) / 2) / 5.
  expect_scores(classifier(model::Pooling::kAverage)->pool(kMaps, photo()), 18.0f / 5, -18.0f / 5);
  expect_scores(classifier(model::Pooling::kMaximum)->pool(kMaps, photo()), 8, -1);
  // A quarter of eight cells: the best two of the photo.
  expect_scores(classifier(model::Pooling::kTopCells, 0.25)->pool(kMaps, photo()), 7, -1.5f);
  // More cells than the photo has: all six of it.
  expect_scores(classifier(model::Pooling::kTopCells, 1.0)->pool(kMaps, photo()), 4, -4);
}

TEST(CamClassifier, WithoutPaddingEveryCellCounts) {
  expect_scores(classifier(model::Pooling::kAverage)->pool(kMaps, {}), 0.5f, -0.75f);
  expect_scores(classifier(model::Pooling::kMaximum)->pool(kMaps, {}), 50, 9);
  expect_scores(classifier(model::Pooling::kTopCells, 0.25)->pool(kMaps, {}), 29, 9);
  expect_scores(classifier(model::Pooling::kTopCells, 0)->pool(kMaps, {}), 50, 9);
}

TEST(CamClassifier, APhotoSmallerThanACellStillHasAScore) {
  torch::Tensor mask = torch::zeros({1, 1, 32, 64});
  mask.narrow(2, 9, 14).narrow(3, 9, 14).fill_(1);  // across four cells, none of them by half
  expect_scores(classifier(model::Pooling::kMaximum)->pool(kMaps, mask), 6, -1);
  expect_scores(classifier(model::Pooling::kTopCells, 0.25)->pool(kMaps, mask), 4.5f, -1.5f);
}

// Two cells, one of them a class's by the softmax with a background of 1: masks e^2 / (e^2 + e) and 1 / (1 + e).
TEST(CamClassifier, WeightedPoolingTakesEachClassByItsMask) {
  model::CamClassifierConfig config = classifier(model::Pooling::kWeighted)->config;
  config.classes = {"background", "cat"};
  model::CamClassifier network(config);
  const torch::Tensor maps = torch::tensor({2.0f, 0.0f}).view({1, 1, 1, 2});
  const double first = 1 / (1 + std::exp(-1)), second = 1 / (1 + std::exp(1)), area = (first + second) / 2;
  const double expected = 2 * first / (1 + first + second) + std::pow(1 - area, 3) * std::log(0.01 + area);
  EXPECT_NEAR(network->pool(maps, {}).item<double>(), expected, 1e-6);
  // The second cell is padding: the mask is the first alone.
  torch::Tensor mask = torch::zeros({1, 1, 16, 32});
  mask.narrow(3, 0, 16).fill_(1);
  const double alone = 2 * first / (1 + first) + std::pow(1 - first, 3) * std::log(0.01 + first);
  EXPECT_NEAR(network->pool(maps, mask).item<double>(), alone, 1e-6);
}

TEST(CamClassifier, TheStrideOfMapsIsAChoice) {
  const torch::NoGradGuard no_grad;
  for (const int64_t stride : {8, 16, 32}) {
    model::CamClassifierConfig config = classifier(model::Pooling::kAverage)->config;
    model::set_map_stride(config.encoder, stride);
    EXPECT_EQ(model::map_stride(config.encoder), stride);
    model::CamClassifier network(config);
    model::draw_weights(*network);
    const torch::Tensor maps = network->maps(torch::randn({1, 3, 64, 96}));
    EXPECT_EQ(maps.sizes(), (std::vector<int64_t>{1, 2, 64 / stride, 96 / stride}));
    const TemporaryFolder folder;
    model::save_classifier(folder.path() / "model.safetensors", network);
    EXPECT_EQ(model::map_stride(model::load_classifier(folder.path())->config.encoder), stride);
  }
  model::EncoderConfig config = tiny_encoder();
  EXPECT_THROW(model::set_map_stride(config, 4), UsageError);
}

TEST(CamClassifier, ScoresComeFromMapsAtASixteenth) {
  const torch::NoGradGuard no_grad;
  model::CamClassifier network = classifier(model::Pooling::kAverage);
  const torch::Tensor images = torch::randn({2, 3, 70, 48});
  const torch::Tensor maps = network->maps(images);
  EXPECT_EQ(maps.sizes(), (std::vector<int64_t>{2, 2, 5, 3}));
  expect_close("scores", network->forward(images), maps.mean({2, 3}), 1e-5);
  const torch::Tensor half = torch::cat({torch::ones({2, 1, 70, 48})});
  expect_close("all photo", network->forward(images, half), maps.mean({2, 3}), 1e-5);
}

TEST(CamClassifier, GoesThroughAFile) {
  const torch::NoGradGuard no_grad;
  const TemporaryFolder folder;
  model::CamClassifier network = classifier(model::Pooling::kTopCells, 0.3);
  model::save_classifier(folder.path() / "model.safetensors", network);
  model::CamClassifier again = model::load_classifier(folder.path());  // a run folder
  EXPECT_EQ(again->config.classes, network->config.classes);
  EXPECT_EQ(again->config.pooling, model::Pooling::kTopCells);
  EXPECT_EQ(again->config.top_share, 0.3);
  EXPECT_EQ(again->config.encoder.strides[3], 1);
  EXPECT_FALSE(again->is_training());
  const torch::Tensor images = torch::randn({1, 3, 40, 64});
  EXPECT_TRUE(torch::equal(again->forward(images), network->forward(images)));
}

TEST(CamClassifier, NetworksAreToldApart) {
  const TemporaryFolder folder;
  const Path tags = folder.path() / "tags.safetensors", pairs = folder.path() / "pairs.safetensors",
             student = folder.path() / "student.safetensors";
  model::CamClassifier network = classifier(model::Pooling::kAverage);
  model::save_classifier(tags, network);
  model::save_affinity_net(pairs, model::make_affinity_net(network));
  model::save_segmenter(student, model::make_segmenter(tiny_config("A0")));
  const auto says = [](const std::function<void()>& work, const std::string& part) {
    const std::string said = error_of(work);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  says([&] { model::load_segmenter(tags); }, "tags.safetensors: this network serves to make seeds");
  says([&] { model::load_segmenter(pairs); }, "pairs.safetensors: this network serves to make seeds");
  says([&] { model::load_classifier(student); }, "student.safetensors: this is no tag classifier");
  says([&] { model::load_classifier(pairs); }, "`crispformer classify` makes one");
  says([&] { model::load_affinity_net(tags); }, "tags.safetensors: this is no affinity network");
  says([&] { model::load_classifier(project_folder() / "weights" / "mit_b0.safetensors"); }, "no tag classifier");
  says([&] { model::parse_pooling("mean"); }, "average, max, top");
}

TEST(AffinityNet, StartsAtTheClassifiersEncoderAndGoesThroughAFile) {
  const torch::NoGradGuard no_grad;
  const TemporaryFolder folder;
  model::CamClassifier tags = classifier(model::Pooling::kAverage);
  model::AffinityNet network = model::make_affinity_net(tags);
  network->eval();
  const torch::Tensor images = torch::randn({1, 3, 50, 64});
  const model::Features features = tags->encoder->forward(images);
  EXPECT_TRUE(torch::equal(network->encoder->forward(images)[3], features[3]));
  const torch::Tensor out = network->forward(images);
  EXPECT_EQ(out.sizes(), (std::vector<int64_t>{1, 448, 7, 8}));
  EXPECT_GT(out.std().item<double>(), 0.05) << "features must differ from cell to cell";
  model::save_affinity_net(folder.path() / "model.safetensors", network);
  model::AffinityNet again = model::load_affinity_net(folder.path());
  EXPECT_TRUE(torch::equal(again->forward(images), out));
  for (const torch::Tensor& parameter : network->parameters()) EXPECT_TRUE(parameter.requires_grad());
}

}  // namespace
}  // namespace crisp::test
