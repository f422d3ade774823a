// Heads on tokens, learned from half of the photos.
#include "crisp/train/crossfit.h"

#include "tests/support/vit.h"

namespace crisp::test {
namespace {

constexpr int64_t kClasses = 3;  // background (grey), red, blue

class CrossfitTraining : public testing::Test {
 protected:
  void SetUp() override {
    // Grey on one side, red or blue on the other, each photo in its own shade, so that halves hold both classes.
    for (int i = 0; i < 24; ++i) {
      const bool red = i % 2 == 0, left = i % 3 == 0;
      const auto shade = static_cast<uint8_t>(140 + 4 * i);
      const std::array<uint8_t, 3> colour = red ? std::array<uint8_t, 3>{shade, 30, 30}
                                                : std::array<uint8_t, 3>{30, 30, shade},
                                   grey = {90, 90, static_cast<uint8_t>(85 + i % 7)};
      data::Sample sample;
      sample.id = std::to_string(i);
      sample.image = write_halves(folder_.path(), sample.id, left ? colour : grey, left ? grey : colour);
      sample.has_tags = true;
      sample.tags = {red ? 1 : 2};
      samples_.push_back(sample);
    }
    for (const data::Sample& sample : samples_) {
      torch::Tensor labels = torch::zeros({4, 4}, torch::kByte);
      labels.narrow(1, std::stoi(sample.id) % 3 == 0 ? 0 : 2, 2).fill_(sample.tags[0]);
      labels_.push_back({&sample, labels});
    }
  }

  model::TokenHead learn(feature::Store& store, size_t half) {
    return train::learn_half(store, labels_, half, kClasses, {.steps = 60, .batch = 8, .rate = 3e-3}, torch::kCPU, {})
        .value();
  }

  TemporaryFolder folder_;
  std::vector<data::Sample> samples_;
  std::vector<train::GridLabels> labels_;
};

TEST_F(CrossfitTraining, EachHalfIsFoundByTheOther) {
  feature::Store store(tiny_vit(), tiny_view(), torch::kCPU, {});
  const seed::Crossfit crossfit({learn(store, 0), learn(store, 1)});
  const torch::InferenceMode inference;
  int64_t right = 0, all = 0;
  std::array<int, 2> judged{};
  for (const train::GridLabels& photo : labels_) {
    const Sha256 sha = store.photo_of(photo.sample->image);
    ++judged[seed::Crossfit::half_of(sha)];
    const torch::Tensor likely = crossfit.judge(store.tokens({photo.sample->image})[0], sha, photo.sample->tags);
    ASSERT_TRUE(likely.defined());
    right += (likely[0].gt(0.5) == photo.labels.gt(0)).sum().item<int64_t>();
    all += photo.labels.numel();
  }
  EXPECT_GT(judged[0], 3);
  EXPECT_GT(judged[1], 3);
  EXPECT_GT(static_cast<double>(right) / static_cast<double>(all), 0.9);
}

TEST_F(CrossfitTraining, TheSameBitsEveryTime) {
  feature::Store store(tiny_vit(), tiny_view(), torch::kCPU, {});
  const model::TokenHead once = learn(store, 0), again = learn(store, 0), other = learn(store, 1);
  EXPECT_TRUE(torch::equal(once->scores->weight, again->scores->weight));
  EXPECT_FALSE(torch::equal(once->scores->weight, other->scores->weight));
  EXPECT_EQ(once->photos.sum().item<int64_t>() + other->photos.sum().item<int64_t>(), 24);
}

}  // namespace
}  // namespace crisp::test
