// Class offsets by the tags of photos and by sizes: by hand, in a network, in its file.
#include "crisp/train/class_match.h"

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

TEST(ClassMatch, ClassesAreFoundAsOftenAsTheyAreTagged) {
  std::vector<train::SeenPhoto> photos;
  // Class 1 is found in 20 photos and tagged in 12, where it is further ahead; class 2 is tagged in 10 and found in 4,
  // and not far behind in the other 6; class 3 is found in 5 and nobody asks.
  for (int i = 0; i < 12; ++i) photos.push_back(photo_with(1, 1.2, {1}));
  for (int i = 0; i < 8; ++i) photos.push_back(photo_with(1, 0.4, {}));
  for (int i = 0; i < 4; ++i) photos.push_back(photo_with(2, 0.5, {2}));
  for (int i = 0; i < 6; ++i) photos.push_back(photo_with(2, -0.7, {2}));
  for (int i = 0; i < 5; ++i) photos.push_back(photo_with(3, 0.3, {}));
  const train::ClassMatch match = train::match(photos, 4);
  EXPECT_EQ(match.tagged, (std::vector<int64_t>{0, 12, 10, 0}));
  EXPECT_EQ(match.found, (std::vector<double>{35, 20, 4, 5}));
  EXPECT_EQ(match.matched, (std::vector<double>{35, 12, 10, 5}));
  EXPECT_EQ(match.offsets[0], 0);
  EXPECT_LT(match.offsets[1], -0.4);
  EXPECT_GT(match.offsets[1], -1.2);
  EXPECT_GT(match.offsets[2], 0.7);
  EXPECT_EQ(match.offsets[3], 0);
}

// A photo of 4x4 cells in whose first `sure` cells class 1 is ahead of the background by 2, and in the next `maybe` by
// `margin`.
train::SeenPhoto photo_filled(int64_t sure, int64_t maybe, double margin, std::vector<int> tags) {
  torch::Tensor scores = torch::full({3, 16}, -5.0);
  scores[0].fill_(-1.0);
  scores[1].narrow(0, 0, sure).fill_(1.0);
  scores[1].narrow(0, sure, maybe).fill_(-1.0 + margin);
  return {scores.view({3, 4, 4}).to(torch::kHalf), std::move(tags)};
}

TEST(ClassMatch, ClassesFillAsMuchAsTheyAreSaidTo) {
  // Class 1 fills 12 of 16 cells, in 8 of them by a little; it is said to fill a quarter.
  std::vector<train::SeenPhoto> photos(20, photo_filled(4, 8, 0.5, {1}));
  train::ClassMatch match = train::match(photos, 3, {.sizes = {0, 0.25, 0}});
  EXPECT_EQ(match.wanted, (std::vector<double>{0, 5, 0}));
  EXPECT_EQ(match.found, (std::vector<double>{5, 15, 0}));
  EXPECT_EQ(match.matched, (std::vector<double>{15, 5, 0}));
  EXPECT_LT(match.offsets[1], -0.5);
  EXPECT_GE(match.offsets[1], -1);
  EXPECT_EQ(match.offsets[2], 0) << "its size is not known";

  // The other way: it is said to fill three quarters, and is behind by a little in half of the photo.
  photos.assign(20, photo_filled(4, 8, -0.5, {1}));
  match = train::match(photos, 3, {.sizes = {0, 0.75, 0.3}});
  EXPECT_EQ(match.found[1], 5);
  EXPECT_EQ(match.matched[1], 15);
  EXPECT_GT(match.offsets[1], 0.5);
  EXPECT_EQ(match.offsets[2], 0) << "nobody tagged it";

  // Behind by more than a guess may move.
  photos.assign(20, photo_filled(4, 8, -1.5, {1}));
  match = train::match(photos, 3, {.sizes = {0, 0.75, 0}});
  EXPECT_EQ(match.matched[1], 5);
  EXPECT_LE(match.offsets[1], 1);
  EXPECT_TRUE(contains(error_of([&] { train::match(photos, 3, {.sizes = {0, 1}}); }), "2 sizes for 3 classes"));
}

TEST(ClassMatch, OffsetsStayWithinTheirBounds) {
  std::vector<train::SeenPhoto> photos;
  for (int i = 0; i < 30; ++i) photos.push_back(photo_with(1, 4, i == 0 ? std::vector<int>{1} : std::vector<int>{2}));
  const train::ClassMatch match = train::match(photos, 4);
  EXPECT_EQ(match.matched[1], 30) << "too sure to be moved";
  for (const double offset : match.offsets) EXPECT_LE(std::abs(offset), train::most_offset({}));
}

TEST(ClassMatch, WhatIsSeenIsSmallAndInLogs) {
  torch::Tensor p = torch::full({2, 100, 30}, 0.25);
  p[1].fill_(0.75);
  const train::SeenPhoto photo = train::seen(p, {1});
  EXPECT_EQ(photo.scores.sizes(), (std::vector<int64_t>{2, train::kSmall, 30}));
  EXPECT_NEAR(photo.scores[1][5][5].item<double>(), std::log(0.75), 1e-3);
  EXPECT_EQ(photo.tags, (std::vector<int>{1}));
}

TEST(ClassMatch, ANetworkAndItsFileKeepTheirOffsets) {
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

TEST(ClassMatch, ASampleOfPhotosIsLookedAtAndWhatCannotBeReadIsSkipped) {
  Scenes scenes(7);
  write_atomic(scenes.samples[6].image, "no photo");
  model::Segmenter network = drawn(small_student("A0"));
  const train::ClassMatch all = train::match_network(network, scenes.samples, 0, {}, torch::kCPU, torch::kFloat, 2, 2);
  EXPECT_EQ(all.tagged, (std::vector<int64_t>{0, 3, 3}));
  const train::ClassMatch some = train::match_network(network, scenes.samples, 3, {}, torch::kCPU, torch::kFloat, 1, 2);
  EXPECT_EQ(some.tagged, (std::vector<int64_t>{0, 3, 0})) << "photos 0, 2 and 4";
}

}  // namespace
}  // namespace crisp::test
