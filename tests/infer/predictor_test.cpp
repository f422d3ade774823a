#include "crisp/infer/predictor.h"

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "crisp/tensor/state_dict.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

image::Image random_photo(int width, int height, uint64_t seed) {
  image::Image photo(width, height);
  Rng rng(seed);
  for (uint8_t& value : photo.rgb) value = static_cast<uint8_t>(rng.below(256));
  return photo;
}

image::Image mirrored(const image::Image& photo) {
  image::Image flipped(photo.width, photo.height);
  for (int y = 0; y < photo.height; ++y) {
    for (int x = 0; x < photo.width; ++x) {
      for (int c = 0; c < 3; ++c) flipped.row(y)[3 * (photo.width - 1 - x) + c] = photo.row(y)[3 * x + c];
    }
  }
  return flipped;
}

// A network whose every part says something: random, not zero, where training would have filled it in.
model::Segmenter lively_network(const std::string& row = "A6") {
  torch::manual_seed(11);
  model::Segmenter network = model::make_segmenter(tiny_config(row));
  const torch::NoGradGuard no_grad;
  for (auto& parameter : network->named_parameters()) {
    if (parameter.key().starts_with("head.")) parameter.value().add_(torch::randn_like(parameter.value()) * 0.3);
  }
  return network;
}

infer::Predictor predictor_of(const infer::InferOptions& options, const std::string& row = "A6") {
  return infer::Predictor(lively_network(row), torch::kCPU, torch::kFloat, options);
}

TEST(Predictor, NormalisesAsImageNetDoes) {
  image::Image photo(1, 1);
  photo.rgb = {255, 0, 124};
  const torch::Tensor batch = infer::to_batch({photo}, torch::kCPU, torch::kFloat).flatten();
  EXPECT_NEAR(batch[0].item<double>(), (1.0 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(batch[1].item<double>(), (0.0 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(batch[2].item<double>(), (124.0 / 255 - 0.406) / 0.225, 1e-5);
}

TEST(Predictor, SinglePassGivesLogitsAtAQuarter) {
  auto predictor = predictor_of({.boundary = true});
  const image::Image photo = random_photo(61, 46, 1);
  const auto results = predictor.run({photo, random_photo(61, 46, 2)});
  ASSERT_EQ(results.size(), 2u);
  const infer::Result& result = results[0];
  EXPECT_EQ(result.labels.width, 61);
  EXPECT_EQ(result.labels.height, 46);
  EXPECT_EQ(result.logits.sizes(), (std::vector<int64_t>{5, 12, 16}));
  EXPECT_FALSE(result.probabilities.defined());
  EXPECT_GE(result.uncertainty.min().item<double>(), 0);
  EXPECT_LE(result.uncertainty.max().item<double>(), 1);
  EXPECT_GT(result.mean_entropy, 0);
  EXPECT_LT(result.mean_entropy, 1);
  EXPECT_GE(result.boundary.min().item<double>(), 0);
  // A batch does not change an answer.
  expect_close("alone", predictor.run({photo})[0].logits, result.logits, 1e-5);
}

TEST(Predictor, FlipIsSymmetric) {
  auto predictor = predictor_of({.scales = {1.0, 0.5}, .flip = true});
  const image::Image photo = random_photo(64, 48, 3);
  const torch::Tensor straight = predictor.run({photo})[0].probabilities;
  const torch::Tensor turned = predictor.run({mirrored(photo)})[0].probabilities;
  EXPECT_EQ(straight.sizes(), (std::vector<int64_t>{5, 48, 64}));
  expect_close("probabilities sum to 1", straight.sum(0), torch::ones({48, 64}), 1e-5);
  expect_close("mirror image", turned.flip(2), straight, 1e-4);
}

TEST(Predictor, ANetworksZoomIsAScaleOfItsOwn) {
  model::Segmenter plain = lively_network("A6");
  model::SegmenterConfig config = plain->config;
  config.head.zoom = 1.5;
  model::Segmenter zoomed(config);
  tensor::load_into(*zoomed, tensor::state_of(*plain), "the plain one");
  const image::Image photo = random_photo(64, 48, 5);
  infer::Predictor by_scale(plain, torch::kCPU, torch::kFloat, {.scales = {1.5}});
  infer::Predictor by_zoom(zoomed, torch::kCPU, torch::kFloat, {});
  const infer::Result a = by_scale.run({photo})[0], b = by_zoom.run({photo})[0];
  EXPECT_TRUE(torch::equal(a.logits, b.logits));
  EXPECT_EQ(b.logits.sizes(), (std::vector<int64_t>{5, 18, 24}));
  EXPECT_EQ(a.labels.labels, b.labels.labels);
  infer::Predictor half(zoomed, torch::kCPU, torch::kFloat, {.scales = {1 / 1.5}});
  EXPECT_EQ(half.run({photo})[0].logits.sizes(), (std::vector<int64_t>{5, 12, 16})) << "that is the photo as it is";
}

// One scale is a single pass, and says what the mean over that scale alone would say.
TEST(Predictor, OneScaleIsAMeanOfOne) {
  const image::Image photo = random_photo(60, 44, 6);
  auto one = predictor_of({.scales = {1.5}}), twice = predictor_of({.scales = {1.5, 1.5}});
  const infer::Result a = one.run({photo})[0], b = twice.run({photo})[0];
  EXPECT_FALSE(a.probabilities.defined());
  ASSERT_FALSE(b.logits.defined());
  const torch::Tensor full = torch::upsample_bilinear2d(a.logits.unsqueeze(0), {44, 60}, false);
  expect_close("probabilities", torch::softmax(full, 1)[0], b.probabilities, 1e-5);
  EXPECT_EQ(a.labels.labels, b.labels.labels);
}

TEST(Predictor, PhotosMuchLargerThanThoseLearnedFromAreShrunk) {
  model::Segmenter plain = lively_network("A6");
  model::SegmenterConfig config = plain->config;
  config.head.side = 40;
  config.head.zoom = 1.5;
  model::Segmenter known(config);
  tensor::load_into(*known, tensor::state_of(*plain), "the plain one");
  const auto grid = [&](int width, int height, const infer::InferOptions& options) {
    infer::Predictor predictor(known, torch::kCPU, torch::kFloat, options);
    const infer::Result result = predictor.run({random_photo(width, height, 7)})[0];
    EXPECT_EQ(result.labels.width, width);
    EXPECT_EQ(result.labels.height, height);
    return std::vector<int64_t>{result.logits.size(2), result.logits.size(1)};
  };
  EXPECT_EQ(grid(80, 64, {}), (std::vector<int64_t>{30, 24})) << "twice the side: only enlarged";
  EXPECT_EQ(grid(320, 160, {}), (std::vector<int64_t>{30, 15})) << "brought to a long side of 80, then enlarged";
  EXPECT_EQ(grid(320, 160, {.scales = {2}}), (std::vector<int64_t>{60, 30}));
  EXPECT_EQ(grid(320, 160, {.full_size = true}), (std::vector<int64_t>{120, 60}));
}

TEST(Predictor, SmallAndThinImagesWork) {
  for (const infer::InferOptions& options :
       {infer::InferOptions{}, infer::InferOptions{.scales = {0.5, 1, 1.5}, .flip = true}}) {
    auto predictor = predictor_of(options);
    for (const auto& [w, h] : std::vector<std::pair<int, int>>{{1, 1}, {1, 400}, {400, 1}, {31, 33}}) {
      const infer::Result result = predictor.run({random_photo(w, h, 4)})[0];
      EXPECT_EQ(result.labels.width, w);
      EXPECT_EQ(result.labels.height, h);
      EXPECT_TRUE(std::isfinite(result.mean_uncertainty));
    }
  }
}

TEST(Tiling, SpansCoverEverySideOnTheGrid) {
  for (const int64_t size : {64, 100, 257, 1000, 1001}) {
    for (const auto& [tile, overlap] :
         std::vector<std::pair<int64_t, int64_t>>{{64, 0}, {64, 16}, {96, 90}, {128, 33}}) {
      const auto spans = infer::tile_spans(size, {.tile = tile, .overlap = overlap});
      EXPECT_EQ(spans.front().start, 0);
      EXPECT_EQ(spans.back().start + spans.back().length, size);
      for (size_t i = 0; i < spans.size(); ++i) {
        EXPECT_EQ(spans[i].start % 4, 0);
        EXPECT_LE(spans[i].length, tile + 3);
        if (i > 0) {
          EXPECT_GT(spans[i].start, spans[i - 1].start);
          EXPECT_GE(spans[i - 1].start + spans[i - 1].length - spans[i].start, std::min(overlap, tile - 4))
              << "neighbours share at least the overlap";
        }
      }
    }
  }
}

TEST(Tiling, BlendsWithoutSeams) {
  // A stand-in network that answers with the brightness under each cell, off by a constant of its own a tile: a
  // hard cut would leave jumps of that size, blending spreads them over the overlap.
  int calls = 0;
  const auto network = [&](const torch::Tensor& tile) {
    model::Prediction p;
    p.refined = p.logits = torch::avg_pool2d(tile, 4, 4, 0, true).narrow(1, 0, 1) + static_cast<double>(calls++ % 2);
    return p;
  };
  const torch::Tensor image = torch::zeros({1, 3, 256, 512});
  const torch::Tensor blended = infer::run_tiled(network, image, {.tile = 128, .overlap = 64}).refined;
  EXPECT_EQ(blended.sizes(), (std::vector<int64_t>{1, 1, 64, 128}));
  const double jump = (blended.narrow(3, 1, 127) - blended.narrow(3, 0, 127)).abs().max().item<double>();
  EXPECT_LE(jump, 1.0 / 16 + 1e-6) << "a step of 1 over an overlap of 16 cells";
  EXPECT_GT(calls, 4);

  calls = 0;
  const torch::Tensor small = torch::rand({1, 3, 60, 60});
  const torch::Tensor one = infer::run_tiled(network, small, {.tile = 128, .overlap = 64}).refined;
  calls = 0;
  EXPECT_TRUE(torch::equal(one, network(small).refined)) << "one tile is no tiling";
}

TEST(Tiling, LocalNetworksDoNotNoticeTiles) {
  const auto network = [](const torch::Tensor& tile) {
    model::Prediction p;
    p.refined = p.logits = torch::avg_pool2d(tile, 4, 4, 0, true);
    return p;
  };
  const torch::Tensor image = torch::rand({1, 3, 200, 300});
  expect_close("tiles", infer::run_tiled(network, image, {.tile = 96, .overlap = 32}).refined, network(image).refined,
               1e-5);
}

TEST(Predictor, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(predictor_of({.tiling = {.tile = 128, .overlap = 128}}), UsageError);
  EXPECT_THROW(predictor_of({.tiling = {.tile = 16}}), UsageError);
  EXPECT_THROW(predictor_of({.scales = {}}), UsageError);
  EXPECT_THROW(predictor_of({.scales = {0.0}}), UsageError);
  EXPECT_THROW(predictor_of({.scales = {std::nan("")}}), UsageError);
}

TEST(Predictor, TiledSegmentationOfARealNetwork) {
  auto tiled = predictor_of({.tiling = {.tile = 64, .overlap = 32}});
  const infer::Result result = tiled.run({random_photo(150, 101, 9)})[0];
  EXPECT_EQ(result.labels.width, 150);
  EXPECT_EQ(result.logits.sizes(), (std::vector<int64_t>{5, 26, 38}));
}

}  // namespace
}  // namespace crisp::test
