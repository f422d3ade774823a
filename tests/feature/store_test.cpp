// Features of a frozen encoder: asked once, then read.
#include "crisp/feature/store.h"

#include "crisp/base/error.h"
#include "crisp/image/decode.h"
#include "crisp/infer/predictor.h"
#include "tests/support/vit.h"

namespace crisp::test {
namespace {

class FeatureStore : public testing::Test {
 protected:
  feature::Store open(const Path& cache, std::shared_ptr<model::FrozenVit> vit = tiny_vit()) {
    return {std::move(vit), tiny_view(), torch::kCPU, {.folder = cache}};
  }

  TemporaryFolder folder_;
  Path red_ = write_halves(folder_.path(), "red", {200, 30, 30}, {90, 90, 90});
  Path blue_ = write_halves(folder_.path(), "blue", {30, 30, 200}, {90, 90, 90});
};

TEST_F(FeatureStore, TokensAreTheNetworksOwnInHalfPrecision) {
  feature::Store store = open("");
  const torch::Tensor tokens = store.tokens({red_, blue_});
  const auto vit = tiny_vit();
  ASSERT_EQ(tokens.sizes(), (std::vector<int64_t>{2, 2, 4, 4, vit->network->config.dim}));
  const torch::InferenceMode inference;
  const image::Image photo = feature::square_of(image::read_image(blue_), 56);
  const auto maps = vit->network->forward(infer::to_batch({photo}, torch::kCPU, torch::kFloat), {2, 4});
  expect_close("block 4", tokens[1][1].permute({2, 0, 1}), maps[1][0], 1e-3);
  expect_close("block 2", tokens[1][0].permute({2, 0, 1}), maps[0][0], 1e-3);
}

TEST_F(FeatureStore, ASecondStoreReadsWhatTheFirstMade) {
  const Path cache = folder_.path() / "features";
  torch::Tensor first;
  {
    feature::Store store = open(cache);
    ASSERT_TRUE(store.prepare({{red_, false}, {blue_, false}}, 2, {}));
    first = store.tokens({red_, blue_});
  }
  const auto broken = tiny_vit();  // the same file, but whoever asks this network would notice
  broken->network->pos_embed.fill_(NAN);
  feature::Store store = open(cache, broken);
  EXPECT_TRUE(torch::equal(store.tokens({red_, blue_}), first));
  std::filesystem::copy_file(red_, folder_.path() / "renamed.png");
  EXPECT_TRUE(torch::equal(store.tokens({folder_.path() / "renamed.png"})[0], first[0]));
}

TEST_F(FeatureStore, AFullCacheMakesTheRestWheneverItIsNeeded) {
  const torch::Tensor expected = open("").tokens({red_, blue_});
  feature::Store store(tiny_vit(), tiny_view(), torch::kCPU, {.folder = folder_.path() / "small", .most_bytes = 1});
  EXPECT_TRUE(store.prepare({{red_, false}, {blue_, false}}, 2, {}));
  EXPECT_TRUE(torch::equal(store.tokens({red_, blue_}), expected));
}

TEST_F(FeatureStore, StoppedOneGoesOnWhereItWas) {
  const Path cache = folder_.path() / "features";
  int asked = 0;
  {
    feature::Store store = open(cache);
    EXPECT_FALSE(store.prepare({{red_, false}, {blue_, false}}, 1, [&] { return ++asked > 2; }));
  }
  feature::Store store = open(cache);
  EXPECT_TRUE(store.prepare({{red_, false}, {blue_, false}}, 1, {}));
  EXPECT_TRUE(torch::equal(store.tokens({red_, blue_}), open("").tokens({red_, blue_})));
}

TEST_F(FeatureStore, AMirroredPhotoIsAnotherLook) {
  feature::Store store = open(folder_.path() / "features");
  const Path turned = write_halves(folder_.path(), "turned", {90, 90, 90}, {200, 30, 30});
  const data::Features mirrored = store.of({red_, true}), expected = store.of({turned, false});
  EXPECT_TRUE(std::ranges::equal(mirrored.values, expected.values));
  EXPECT_FALSE(std::ranges::equal(mirrored.values, store.of({red_, false}).values));
}

TEST_F(FeatureStore, APhotoThatCannotBeReadIsNamedByWhoeverNeedsIt) {
  feature::Store store = open(folder_.path() / "features");
  const Path bad = folder_.path() / "bad.png";
  write_atomic(bad, "no picture");
  EXPECT_TRUE(store.prepare({{bad, false}, {red_, false}}, 2, {}));
  EXPECT_NE(error_of([&] { store.tokens({bad}); }).find("bad.png"), std::string::npos);
}

TEST_F(FeatureStore, MomentsAreThoseOfAllTokens) {
  feature::Store store = open("");
  const feature::Moments moments = feature::moments_of(store, {red_, blue_});
  const torch::Tensor all =
      store.tokens({red_, blue_}).to(torch::kFloat).permute({1, 0, 2, 3, 4}).flatten(1, 3);  // [blocks, tokens, dim]
  expect_close("mean", moments.mean, all.mean(1), 1e-4);
  expect_close("deviation", moments.deviation, all.std(1, /*unbiased=*/false), 1e-3);
}

}  // namespace
}  // namespace crisp::test
