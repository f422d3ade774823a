// What is learned: tags, and which pixels belong together.
#include "crisp/base/error.h"
#include "crisp/image/encode.h"
#include "crisp/infer/predictor.h"
#include "crisp/train/affinity_task.h"
#include "crisp/train/batch.h"
#include "crisp/train/classify_task.h"
#include "crisp/train/mosaic.h"
#include "crisp/train/trainer.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::CamClassifier tiny_classifier() {
  torch::manual_seed(2);
  model::CamClassifierConfig config;
  config.encoder = tiny_encoder();
  config.encoder.strides[3] = 1;
  config.classes = {"background", "cat", "dog"};
  model::CamClassifier network(config);
  model::draw_weights(*network);
  return network;
}

// Photos of one colour, tagged with it.
std::vector<data::Sample> samples(const Path& folder, int count, int width, int height) {
  std::vector<data::Sample> all;
  for (int i = 0; i < count; ++i) {
    image::Image photo(width, height);
    for (size_t k = 0; k < photo.rgb.size(); ++k) photo.rgb[k] = k % 3 == static_cast<size_t>(i % 2) ? 230 : 20;
    data::Sample sample;
    sample.id = "p" + std::to_string(i);
    sample.image = folder / (sample.id + ".png");
    image::write_rgb_png(sample.image, photo);
    sample.tags = {1 + i % 2};
    sample.has_tags = true;
    all.push_back(std::move(sample));
  }
  return all;
}

TEST(AffinityLoss, AgreesWithAllPairsAtOnce) {
  const tensor::StateDict golden = read_golden("train/affinity.safetensors");
  for (const torch::Device device : devices()) {
    const torch::Tensor features = golden.at("features").to(device).clone().requires_grad_();
    const train::Losses losses = train::affinity_loss(features, golden.at("labels").to(device));
    losses.total.backward();
    expect_close("loss", losses.total, golden.at("loss"), 1e-5);
    for (const auto& [name, value] : losses.parts) expect_close(name, value, golden.at(name), 1e-5);
    expect_close("gradient", features.grad(), golden.at("gradient"), 1e-4);
  }
}

TEST(AffinityLoss, WithoutAnyKnownPairItIsZero) {
  torch::Tensor features = torch::randn({1, 3, 4, 4}).requires_grad_();
  const train::Losses losses = train::affinity_loss(features, torch::full({1, 4, 4}, 255, torch::kUInt8));
  losses.total.backward();
  EXPECT_EQ(losses.total.item<float>(), 0);
  EXPECT_EQ(features.grad().abs().sum().item<float>(), 0);
  // Equal features of different labels are as wrong as can be, and still finite.
  const train::Losses equal =
      train::affinity_loss(torch::zeros({1, 3, 1, 2}), torch::tensor({{{0, 1}}}, torch::kUInt8));
  EXPECT_NEAR(equal.total.item<double>(), 0.5 * -std::log(1e-5), 0.01);
}

TEST(TagMatrix, HasAOneForEachTag) {
  std::vector<data::Example> batch(2);
  batch[0].tags = {1, 3};
  const torch::Tensor tags = train::tag_matrix(batch, 4);
  EXPECT_TRUE(torch::equal(tags, torch::tensor({{1.0f, 0.0f, 1.0f}, {0.0f, 0.0f, 0.0f}})));
}

TEST(ClassifyTask, TheLossIsTheMeanSoftMargin) {
  const TemporaryFolder folder;
  train::ClassifyOptions options;
  options.batch = 2;
  options.augment = {.crop = 64, .scale_low = 1, .scale_high = 1, .flip = 0, .jitter = 0, .blur = 0, .grey = 0};
  model::CamClassifier network = tiny_classifier();
  train::ClassifyTask task(network, samples(folder.path(), 4, 64, 64), {}, options, torch::kCPU);
  const std::vector<data::Example> batch = task.loader().next();
  network->eval();
  const double got = task.losses(batch, {}).total.item<double>();
  const torch::NoGradGuard no_grad;
  double sum = 0;
  for (const data::Example& example : batch) {
    const torch::Tensor x = network->forward(infer::to_batch({example.image}, torch::kCPU, torch::kFloat));
    for (int64_t k = 0; k < 2; ++k) {
      const double value = x[0][k].item<double>();
      sum += example.tags[0] == k + 1 ? std::log1p(std::exp(-value)) : std::log1p(std::exp(value));
    }
  }
  EXPECT_NEAR(got, sum / 4, 1e-5);
}

train::ClassifyOptions options_for_two_colours(double encoder_rate) {
  train::ClassifyOptions options;
  options.batch = 8;
  options.encoder_rate = encoder_rate;
  options.head_rate = 0.05;
  options.augment = {.crop = 32, .scale_low = 1, .scale_high = 1, .jitter = 0, .blur = 0, .grey = 0};
  return options;
}

TEST(ClassifyTask, LearnsTwoColours) {
  const TemporaryFolder folder;
  const train::ClassifyOptions options = options_for_two_colours(0.01);
  const std::vector<data::Sample> all = samples(folder.path(), 8, 40, 40);
  train::ClassifyTask task(tiny_classifier(), all, all, options, torch::kCPU);
  train::TrainerOptions trainer_options;
  trainer_options.epochs = 30;
  trainer_options.validate_every = 30;
  trainer_options.checkpoint_every = 30;
  make_folder(folder.path() / "run");
  train::Trainer trainer(task, trainer_options, torch::kCPU, folder.path() / "run");
  EXPECT_TRUE(trainer.run([] { return false; }));
  ASSERT_EQ(trainer.last_validation().size(), 2u);
  EXPECT_EQ(trainer.last_validation()[0].first, "map");
  EXPECT_DOUBLE_EQ(trainer.last_validation()[0].second, 100);
  EXPECT_LT(*report::read_run_log(folder.path() / "run" / "log.jsonl").end()[-2].number("loss"), 0.1);
  model::CamClassifier again = model::load_classifier(folder.path() / "run");
  EXPECT_EQ(again->config.classes[2], "dog");
}

TEST(ClassifyTask, WithoutARateTheEncoderStaysAndTheClassifierLearns) {
  const TemporaryFolder folder;
  const train::ClassifyOptions options = options_for_two_colours(0);
  model::CamClassifier network = tiny_classifier();
  const std::vector<torch::Tensor> before = network->encoder->parameters();
  std::vector<torch::Tensor> kept;
  for (const torch::Tensor& parameter : before) kept.push_back(parameter.detach().clone());
  const torch::Tensor classifier = network->classifier->weight.detach().clone();
  train::ClassifyTask task(network, samples(folder.path(), 8, 40, 40), {}, options, torch::kCPU);
  EXPECT_TRUE(task.groups()[0].parameters.empty());
  make_folder(folder.path() / "run");
  train::TrainerOptions trainer_options;
  trainer_options.epochs = 20;
  train::Trainer trainer(task, trainer_options, torch::kCPU, folder.path() / "run");
  EXPECT_TRUE(trainer.run([] { return false; }));
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(torch::equal(before[i], kept[i])) << i;
  EXPECT_FALSE(torch::equal(network->classifier->weight, classifier));
  const auto log = report::read_run_log(folder.path() / "run" / "log.jsonl");
  EXPECT_LT(*log.end()[-2].number("loss"), 0.9 * *log.front().number("loss"));
}

TEST(ClassifyTask, WholePhotosOfTwentyPixelsTrain) {
  const TemporaryFolder folder;
  train::ClassifyOptions options;
  options.batch = 1;
  options.augment.crop = 0;
  train::ClassifyTask task(tiny_classifier(), samples(folder.path(), 2, 20, 9), {}, options, torch::kCPU);
  const torch::Tensor loss = task.losses(task.loader().next(), {}).total;
  EXPECT_TRUE(std::isfinite(loss.item<double>()));
  options.batch = 2;
  const auto many = [&] {
    train::ClassifyTask(tiny_classifier(), samples(folder.path(), 2, 20, 9), {}, options, torch::kCPU);
  };
  EXPECT_NE(error_of(many).find("--batch 1"), std::string::npos);
}

TEST(Mosaic, FourTilesMakeAPictureAndComeBack) {
  const torch::Tensor tiles = torch::arange(8 * 2 * 3 * 5).view({8, 2, 3, 5});
  const torch::Tensor pictures = train::to_mosaics(tiles);
  ASSERT_EQ(pictures.sizes(), (std::vector<int64_t>{2, 2, 6, 10}));
  EXPECT_TRUE(torch::equal(pictures[1].narrow(1, 0, 3).narrow(2, 0, 5), tiles[4]));
  EXPECT_TRUE(torch::equal(pictures[1].narrow(1, 0, 3).narrow(2, 5, 5), tiles[5]));
  EXPECT_TRUE(torch::equal(pictures[1].narrow(1, 3, 3).narrow(2, 0, 5), tiles[6]));
  EXPECT_TRUE(torch::equal(train::from_mosaics(pictures), tiles));
}

// What a tile shows is seen by its neighbours through attention, and still each answers for its own tags: the loss is
// that of the maps of the whole picture, pooled tile by tile.
TEST(ClassifyTask, AMosaicIsPooledTileByTile) {
  const TemporaryFolder folder;
  train::ClassifyOptions options;
  options.batch = 4;
  options.augment = {.crop = 32, .scale_low = 1, .scale_high = 1, .flip = 0, .jitter = 0, .blur = 0, .grey = 0};
  const auto loss = [&](double mosaic, int64_t batch = 4, int crop = 32) {
    options.mosaic = mosaic;
    options.batch = batch;
    options.augment.crop = crop;
    train::ClassifyTask task(tiny_classifier(), samples(folder.path(), 4, 40, 40), {}, options, torch::kCPU);
    return task.losses(task.loader().next(), {}).total.item<double>();
  };
  EXPECT_TRUE(std::isfinite(loss(1)));
  EXPECT_NE(loss(1), loss(0));
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(error_of([&] { loss(1, 3); }).find("multiple of 4"), std::string::npos);
  EXPECT_NE(error_of([&] { loss(1, 4, 40); }).find("multiple of 32"), std::string::npos);
}

TEST(ClassifyTask, FrozenNormsStayAsTheyAre) {
  const TemporaryFolder folder;
  train::ClassifyOptions options;
  options.freeze_norms = true;
  options.augment.crop = 32;
  train::ClassifyTask task(tiny_classifier(), samples(folder.path(), 2, 40, 40), {}, options, torch::kCPU);
  size_t norms = 0, others = 0;
  for (const train::ParameterGroup& group : task.groups()) {
    for (const auto& [name, parameter] : group.parameters) {
      (name.find("norm") != std::string::npos ? norms : others) += 1;
    }
  }
  EXPECT_EQ(norms, 0u);
  EXPECT_GT(others, 20u);
}

TEST(AffinityTask, TheHeadAloneIsTrainedUnlessAsked) {
  const TemporaryFolder folder;
  const std::vector<data::Sample> all = samples(folder.path(), 2, 64, 64);
  data::SeedWriter writer(folder.path() / "labels", {.classes = {"background", "cat", "dog"}});
  for (const data::Sample& sample : all) {
    data::Seed seed{image::Mask(64, 64), image::Mask(64, 64)};
    for (size_t i = 0; i < 2048; ++i) seed.labels.labels[i] = static_cast<uint8_t>(sample.tags[0]);
    writer.write(sample.id, seed);
  }
  writer.finish({"p0", "p1"}, 1);
  for (const bool whole : {false, true}) {
    train::AffinityOptions options;
    options.batch = 2;
    options.train_encoder = whole;
    options.augment = {.crop = 64, .scale_low = 1, .scale_high = 1};
    model::AffinityNet network = model::make_affinity_net(tiny_classifier());
    train::AffinityTask task(network, all, data::SeedFolder(folder.path() / "labels"), options, torch::kCPU);
    network->train();
    const train::Losses losses = task.losses(task.loader().next(), {});
    losses.total.backward();
    ASSERT_EQ(losses.parts.size(), 3u);
    for (const auto& [name, value] : losses.parts) EXPECT_GT(value.item<double>(), 0) << name;
    EXPECT_EQ(network->encoder->parameters()[0].grad().defined(), whole);
    EXPECT_GT(network->head->parameters()[0].grad().abs().sum().item<double>(), 0);
  }
}

}  // namespace
}  // namespace crisp::test
