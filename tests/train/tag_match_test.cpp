// Class offsets by the tags of photos: by hand, in a network, in its file, in relabelling.
#include "crisp/train/tag_match.h"

#include "crisp/model/load.h"
#include "crisp/train/relabel.h"
#include "tests/support/support.h"
#include "tests/train/student_fixture.h"

namespace crisp::test {
namespace {

// A photo of 4x4 cells, background but for one cell in which `label` is ahead of it by `margin`.
train::SeenPhoto photo_with(int64_t label, double margin, std::vector<int> tags, int64_t classes = 4) {
  torch::Tensor scores = torch::full({classes, 4, 4}, -5.0);
  scores[0].fill_(-1.0);
  scores[label][2][1] = -1.0 + margin;
  return {scores.to(torch::kHalf), std::move(tags)};
}

TEST(TagMatch, ClassesAreFoundAsOftenAsTheyAreTagged) {
  std::vector<train::SeenPhoto> photos;
  // Class 1 is found in 20 photos and tagged in 12, where it is further ahead; class 2 is tagged in 10 and found in 4,
  // and not far behind in the other 6; class 3 is found in 5 and nobody asks.
  for (int i = 0; i < 12; ++i) photos.push_back(photo_with(1, 1.2, {1}));
  for (int i = 0; i < 8; ++i) photos.push_back(photo_with(1, 0.4, {}));
  for (int i = 0; i < 4; ++i) photos.push_back(photo_with(2, 0.5, {2}));
  for (int i = 0; i < 6; ++i) photos.push_back(photo_with(2, -0.7, {2}));
  for (int i = 0; i < 5; ++i) photos.push_back(photo_with(3, 0.3, {}));
  const train::TagMatch match = train::match(photos, 4);
  EXPECT_EQ(match.tagged, (std::vector<int64_t>{0, 12, 10, 0}));
  EXPECT_EQ(match.found, (std::vector<int64_t>{35, 20, 4, 5}));
  EXPECT_EQ(match.matched, (std::vector<int64_t>{35, 12, 10, 5}));
  EXPECT_EQ(match.offsets[0], 0);
  EXPECT_LT(match.offsets[1], -0.4);
  EXPECT_GT(match.offsets[1], -1.2);
  EXPECT_GT(match.offsets[2], 0.7);
  EXPECT_EQ(match.offsets[3], 0);
}

TEST(TagMatch, OffsetsStayWithinTheirBounds) {
  std::vector<train::SeenPhoto> photos;
  for (int i = 0; i < 30; ++i) photos.push_back(photo_with(1, 4, i == 0 ? std::vector<int>{1} : std::vector<int>{2}));
  const train::TagMatch match = train::match(photos, 4);
  EXPECT_EQ(match.matched[1], 30) << "too sure to be moved";
  for (const double offset : match.offsets) EXPECT_LE(std::abs(offset), train::kMostOffset);
}

TEST(TagMatch, WhatIsSeenIsSmallAndInLogs) {
  torch::Tensor p = torch::full({2, 100, 30}, 0.25);
  p[1].fill_(0.75);
  const train::SeenPhoto photo = train::seen(p, {1});
  EXPECT_EQ(photo.scores.sizes(), (std::vector<int64_t>{2, train::kSmall, 30}));
  EXPECT_NEAR(photo.scores[1][5][5].item<double>(), std::log(0.75), 1e-3);
  EXPECT_EQ(photo.tags, (std::vector<int>{1}));
}

TEST(TagMatch, ANetworkAndItsFileKeepTheirOffsets) {
  const torch::NoGradGuard no_grad;
  const TemporaryFolder folder;
  const torch::Tensor images = torch::randn({1, 3, 64, 64});
  const std::vector<double> offsets = {0, 0.5, -1.25};
  for (const std::string row : {"A0", "A6"}) {
    model::Segmenter plain = drawn(small_student(row));
    plain->eval();
    model::Segmenter moved = train::shifted(plain, offsets);
    const torch::Tensor shift = torch::tensor({0.0f, 0.5f, -1.25f}).view({1, 3, 1, 1});
    const model::Prediction before = plain->forward(images), after = moved->forward(images);
    EXPECT_LT((after.refined - before.refined - shift).abs().max().item<double>(), 1e-5) << row;
    EXPECT_TRUE(after.logits.equal(before.logits)) << "the refiner sees what it was trained on";
    EXPECT_EQ(train::shifted(moved, offsets)->config.head.offsets, (std::vector<double>{0, 1, -2.5}));

    const Path file = folder.path() / (row + ".safetensors");
    model::save_segmenter(file, moved);
    model::Segmenter loaded = model::load_segmenter(file);
    EXPECT_EQ(loaded->config.head.offsets, offsets);
    EXPECT_TRUE(loaded->forward(images).refined.equal(after.refined));
  }
  model::SegmenterConfig wrong = small_student("A0");
  wrong.head.offsets = {0, 1};
  model::save_segmenter(folder.path() / "wrong.safetensors", model::make_segmenter(wrong));
  const std::string refused = error_of([&] { model::load_segmenter(folder.path() / "wrong.safetensors"); });
  EXPECT_TRUE(contains(refused, "wrong.safetensors: the file has 2 offsets but its head has 3")) << refused;
}

TEST(TagMatch, ASampleOfPhotosIsLookedAtAndWhatCannotBeReadIsSkipped) {
  Scenes scenes(7);
  write_atomic(scenes.samples[6].image, "no photo");
  model::Segmenter network = drawn(small_student("A0"));
  const train::TagMatch all = train::match_tags(network, scenes.samples, 0, torch::kCPU, torch::kFloat, 2, 2);
  EXPECT_EQ(all.tagged, (std::vector<int64_t>{0, 3, 3}));
  const train::TagMatch some = train::match_tags(network, scenes.samples, 3, torch::kCPU, torch::kFloat, 1, 2);
  EXPECT_EQ(some.tagged, (std::vector<int64_t>{0, 3, 0})) << "photos 0, 2 and 4";
}

TEST(TagMatch, RelabellingUsesItsOffsets) {
  Scenes scenes(6);
  const data::SeedFolder before(scenes.seeds());
  const data::SeedFacts facts{
      .made_by = "a test", .data = "scenes", .split = "train", .classes = scenes.dataset.classes};
  train::RelabelOptions options;
  options.passes = 1;
  options.all = true;
  const auto labels = [&](const model::Segmenter& teacher, const std::string& name) {
    const Path out = scenes.folder.path() / name;
    train::relabel(teacher, scenes.samples, facts, &before, nullptr, options, torch::kCPU, torch::kFloat, 1, 2, 5, out);
    std::string all;
    for (const data::Sample& sample : scenes.samples) all += read_text(out / "labels" / (sample.id + ".png"));
    return all;
  };
  model::Segmenter teacher = drawn(small_student("A6"));
  const train::TagMatch match = train::match_tags(teacher, scenes.samples, 0, torch::kCPU, torch::kFloat, 1, 2);
  const std::string plain = labels(teacher, "plain");
  const std::string by_hand = labels(train::shifted(teacher, match.offsets), "by_hand");
  options.match_tags = 6;
  const std::string made = labels(teacher, "made");
  EXPECT_TRUE(made == by_hand);
  EXPECT_FALSE(made == plain);
}

}  // namespace
}  // namespace crisp::test
