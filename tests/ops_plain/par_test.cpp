#include "crisp/ops/par.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "crisp/base/error.h"
#include "tests/ops_plain/raw.h"

namespace crisp::ops {
namespace {

using test::raw;

constexpr int kWidth = 37, kHeight = 21, kLabels = 3;

std::vector<float> run(const ParOptions& options) {
  const auto rgb = raw<uint8_t>("par_rgb.u8");
  const auto p = raw<float>("par_p.f32");
  std::vector<float> out(p.size());
  par(rgb, kWidth, kHeight, kLabels, p, out, options);
  return out;
}

// Dilation 24 reaches beyond the whole image, so the golden covers the frame as well.
TEST(Par, Golden) {
  ParOptions literal;
  literal.keep_sum = false;
  const ParOptions small{.dilations = {1, 3}, .iterations = 3, .w1 = 0.5f, .w2 = 0.2f, .keep_sum = false};
  const std::pair<const char*, ParOptions> cases[] = {{"par_default.f32", literal}, {"par_small.f32", small}};
  for (const auto& [name, options] : cases) {
    const auto golden = raw<float>(name);
    const auto out = run(options);
    ASSERT_EQ(out.size(), golden.size());
    for (size_t k = 0; k < out.size(); ++k) ASSERT_NEAR(out[k], golden[k], 2e-6) << name << " " << k;
  }
}

TEST(Par, KeepsTheSumUnlessLiteral) {
  const auto golden = raw<float>("par_default.f32");
  const auto out = run({});
  const double growth = std::pow(1.01, 10);
  for (size_t k = 0; k < out.size(); ++k) ASSERT_NEAR(out[k] * growth, golden[k], 3e-6);
  const size_t pixels = kWidth * kHeight;
  for (size_t i = 0; i < pixels; ++i) ASSERT_NEAR(out[i] + out[pixels + i] + out[2 * pixels + i], 1, 1e-5);
}

TEST(Par, WeightsNeedNotBeKept) {
  ParOptions options;
  options.memory = 0;
  EXPECT_EQ(run(options), run({}));
}

TEST(Par, DegenerateImages) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {13, 1}, {4, 3}}) {
    const auto pixels = static_cast<size_t>(width * height);
    const std::vector<uint8_t> flat(3 * pixels, 77);
    std::vector<float> p(2 * pixels, 0.25f), out(p.size());
    par(flat, width, height, 2, p, out);
    for (const float q : out) ASSERT_NEAR(q, 0.25f, 1e-5);
    p[0] = std::numeric_limits<float>::quiet_NaN();
    p[pixels] = std::numeric_limits<float>::infinity();
    par(flat, width, height, 2, p, p);  // in place
    for (const float q : p) ASSERT_TRUE(q >= 0 && q <= 0.2501f);
  }
}

// One pixel unlike all its neighbours, which are alike: their deviation is 0 but nothing overflows.
TEST(Par, LonePixel) {
  std::vector<uint8_t> rgb(3 * 25, 10);
  for (size_t c = 0; c < 3; ++c) rgb[3 * 12 + c] = 250;
  std::vector<float> p(25, 0.0f), out(25);
  p[12] = 1;
  ParOptions once;
  once.iterations = 1;
  once.dilations = {1};
  par(rgb, 5, 5, 1, p, out, once);
  for (const float q : out) ASSERT_TRUE(q >= 0 && q < 0.1f);
  EXPECT_EQ(out[12], 0);  // a pixel does not count for itself
}

TEST(Par, RefusesWhatMakesNoSense) {
  const std::vector<uint8_t> rgb(12);
  std::vector<float> p(4), wrong(3);
  EXPECT_THROW(par(rgb, 2, 2, 1, p, wrong), Error);
  EXPECT_THROW(par(rgb, 2, 0, 1, p, p), Error);
  EXPECT_THROW(par(rgb, 2, 2, 1, p, p, ParOptions{.dilations = {}}), UsageError);
  EXPECT_THROW(par(rgb, 2, 2, 1, p, p, ParOptions{.dilations = {0}}), UsageError);
  EXPECT_THROW(par(rgb, 2, 2, 1, p, p, ParOptions{.w1 = 0}), UsageError);
}

}  // namespace
}  // namespace crisp::ops
