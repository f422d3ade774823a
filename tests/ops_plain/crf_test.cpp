#include "crisp/ops/crf.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "crisp/ops/crf_kernels.h"
#include "crisp/ops/permutohedral.h"
#include "tests/ops_plain/crf_reference.h"
#include "tests/ops_plain/raw.h"

namespace crisp::ops {
namespace {

using test::crf_reference;
using test::raw;

struct Case {
  int width, height, labels;
  std::vector<uint8_t> rgb;
  std::vector<float> probabilities;
};

uint8_t to_byte(double value) { return static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)); }

// A ground with shading and waves, a disc, a bar, sensor noise; soft noisy blobs over a constant background score.
Case make_case(uint64_t seed, int width, int height, int labels) {
  Rng rng(seed);
  Case made{width, height, labels, {}, {}};
  const double cx = rng.uniform(0.2, 0.8) * width, cy = rng.uniform(0.2, 0.8) * height;
  const double radius = rng.uniform(0.15, 0.35) * height, bar = rng.uniform(0.1, 0.8) * width;
  double ground[3], disc[3], stripe[3];
  for (int c = 0; c < 3; ++c)
    ground[c] = rng.uniform(60, 160), disc[c] = rng.uniform(20, 230), stripe[c] = rng.uniform(20, 230);
  const double waves = rng.uniform(0, 25), noise = rng.uniform(1, 4);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        double value = ground[c] + waves * std::sin(0.35 * x + c) * std::cos(0.25 * y) + 0.5 * x;
        if (std::hypot(x - cx, y - cy) < radius) value = disc[c] + 0.6 * y;
        if (x > bar && x < bar + 0.12 * width) value = stripe[c];
        made.rgb.push_back(to_byte(value + noise * rng.normal()));
      }
  const auto pixels = static_cast<size_t>(width * height);
  made.probabilities.resize(pixels * static_cast<size_t>(labels));
  std::vector<double> sums(pixels);
  for (size_t l = 0; l < static_cast<size_t>(labels); ++l) {
    const double bx = rng.uniform() * width, by = rng.uniform() * height, size = 0.1 * width * height;
    for (size_t i = 0; i < pixels; ++i) {
      const double dx = static_cast<double>(i % static_cast<size_t>(width)) - bx;
      const double dy = static_cast<double>(i / static_cast<size_t>(width)) - by;
      const double score = (l == 0 ? 0.35 : std::exp(-(dx * dx + dy * dy) / size)) + 0.05 * rng.uniform();
      sums[i] += score;
      made.probabilities[l * pixels + i] = static_cast<float>(score);
    }
  }
  for (size_t k = 0; k < made.probabilities.size(); ++k)
    made.probabilities[k] = static_cast<float>(made.probabilities[k] / sums[k % pixels]);
  return made;
}

std::vector<float> run(const Case& made, const CrfOptions& options = {}) {
  std::vector<float> marginals(made.probabilities.size());
  crf(made.rgb, made.width, made.height, made.labels, made.probabilities, marginals, options);
  return marginals;
}

size_t best(const std::vector<float>& q, size_t labels, size_t i) {
  const size_t pixels = q.size() / labels;
  size_t label = 0;
  for (size_t l = 1; l < labels; ++l)
    if (q[l * pixels + i] > q[label * pixels + i]) label = l;
  return label;
}

struct Difference {
  double agreement = 0, mean = 0;
};
Difference compare(const std::vector<float>& a, const std::vector<float>& b, int labels) {
  const size_t count = static_cast<size_t>(labels), pixels = a.size() / count;
  Difference difference;
  for (size_t i = 0; i < pixels; ++i) difference.agreement += best(a, count, i) == best(b, count, i);
  for (size_t k = 0; k < a.size(); ++k) difference.mean += std::abs(a[k] - b[k]);
  difference.agreement /= static_cast<double>(pixels);
  difference.mean /= static_cast<double>(a.size());
  return difference;
}

void expect_distribution(const std::vector<float>& q, int labels) {
  const size_t pixels = q.size() / static_cast<size_t>(labels);
  for (size_t i = 0; i < pixels; ++i) {
    double sum = 0;
    for (size_t l = 0; l < static_cast<size_t>(labels); ++l) {
      ASSERT_GE(q[l * pixels + i], 0) << "pixel " << i;  // false for NaN too
      sum += q[l * pixels + i];
    }
    ASSERT_NEAR(sum, 1, 1e-5) << "pixel " << i;
  }
}

// The reference itself is held to numpy's dense sums, and so is the lattice.
TEST(Crf, Golden) {
  const Case made{26, 22, 3, raw<uint8_t>("crf_rgb.u8"), raw<float>("crf_p.f32")};
  const CrfOptions one{.iterations = 1,
                       .spatial_sigma = 1,
                       .spatial_weight = 3,
                       .bilateral_sigma_xy = 67,
                       .bilateral_sigma_rgb = 3,
                       .bilateral_weight = 4};
  const std::pair<const char*, CrfOptions> cases[] = {
      {"crf_psa.f32", crf_preset("psa")}, {"crf_irn.f32", crf_preset("irn")}, {"crf_one.f32", one}};
  for (const auto& [name, options] : cases) {
    const std::vector<float> golden = raw<float>(name);
    const std::vector<float> reference =
        crf_reference(made.rgb, made.width, made.height, made.labels, made.probabilities, options);
    for (size_t k = 0; k < golden.size(); ++k) ASSERT_NEAR(reference[k], golden[k], 1e-5) << name << " " << k;
    const Difference difference = compare(run(made, options), golden, made.labels);
    EXPECT_GE(difference.agreement, 0.98) << name;
    EXPECT_LE(difference.mean, 0.03) << name;
  }
}

// Half of the cases pretend to be scaled-down photos, so that positions matter on so small an image. Single scenes fall
// below 90% where labels are so balanced that a small error tips a region; hence bounds for the mean of each preset.
TEST(Crf, FollowsExactSumsForEveryPreset) {
  constexpr int kCases = 60;
  double changed = 0;
  const auto names = crf_preset_names();
  for (const std::string& name : names) {
    CrfOptions options = crf_preset(name);
    std::vector<double> agreement;
    double mean_agreement = 0, mean_difference = 0;
    for (int k = 0; k < kCases; ++k) {
      options.scale_factor = k % 2 == 0 ? 1.0f : 6.0f;
      const Case made = make_case(static_cast<uint64_t>(9000 + k), 34, 28, 2 + k % 5);
      const auto exact = crf_reference(made.rgb, made.width, made.height, made.labels, made.probabilities, options);
      const Difference difference = compare(run(made, options), exact, made.labels);
      agreement.push_back(difference.agreement);
      mean_agreement += difference.agreement / kCases;
      mean_difference += difference.mean / kCases;
      changed += 1 - compare(exact, made.probabilities, made.labels).agreement;
    }
    std::sort(agreement.begin(), agreement.end());
    std::printf("%s: labels agree on %.2f%% of pixels (middle scene %.2f%%), marginals differ by %.4f\n", name.c_str(),
                100 * mean_agreement, 100 * agreement[kCases / 2], mean_difference);
    EXPECT_GE(mean_agreement, 0.99) << name;
    EXPECT_GE(agreement[kCases / 2], 0.99) << name;
    EXPECT_LE(mean_difference, 0.01) << name;
  }
  EXPECT_GT(changed / (kCases * static_cast<double>(names.size())), 0.05) << "these cases ask for nothing";
}

TEST(Crf, ScaleFactorDividesPositions) {
  const Case made = make_case(7, 30, 20, 3);
  CrfOptions scaled, divided;
  scaled.scale_factor = 2;
  divided.spatial_sigma /= 2;
  divided.bilateral_sigma_xy /= 2;
  const auto a = run(made, scaled), b = run(made, divided);
  for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-4);
  scaled.scale_factor = 12;
  EXPECT_GT(compare(a, run(made, scaled), 3).mean, 1e-3);
}

// More labels than a vector holds take other code paths; a label that cannot be changes nothing for the others.
TEST(Crf, AnyNumberOfLabels) {
  for (const int labels : {2, 5, 9, 17, 21, 43}) {
    const Case made = make_case(static_cast<uint64_t>(labels), 16, 14, labels);
    const auto exact = crf_reference(made.rgb, 16, 14, labels, made.probabilities, CrfOptions{});
    const auto q = run(made);
    expect_distribution(q, labels);
    EXPECT_LE(compare(q, exact, labels).mean, 0.03) << labels;
  }
}

TEST(Crf, SparseLatticeStaysClose) {
  const Case made = make_case(3, 34, 28, 3);
  CrfOptions sparse;
  sparse.lattice_budget = 0;
  const Difference difference = compare(run(made, sparse), run(made), 3);
  EXPECT_GE(difference.agreement, 0.97);
  EXPECT_GT(difference.mean, 0);
}

TEST(Crf, DegenerateImages) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 17}, {23, 1}, {2, 2}, {9, 7}})
    for (const int labels : {1, 2, 4, 5}) {
      const auto pixels = static_cast<size_t>(width * height);
      Case flat{width, height, labels, std::vector<uint8_t>(3 * pixels, 255), {}};
      flat.probabilities.assign(pixels * static_cast<size_t>(labels), 0.0f);  // every label impossible
      expect_distribution(run(flat), labels);
      for (size_t k = 0; k < flat.probabilities.size(); ++k)  // what a broken network might say
        flat.probabilities[k] = k % 3 == 0   ? std::numeric_limits<float>::quiet_NaN()
                                : k % 3 == 1 ? std::numeric_limits<float>::infinity()
                                             : -1.0f;
      expect_distribution(run(flat), labels);
    }
}

TEST(Crf, CertainPixelsStayAndUniformOnesStayUniform) {
  Case made = make_case(5, 12, 10, 2);
  std::fill(made.probabilities.begin(), made.probabilities.end(), 0.5f);
  for (const float q : run(made)) ASSERT_NEAR(q, 0.5f, 1e-4);
  const size_t pixels = 120;
  for (size_t i = 0; i < pixels; ++i) made.probabilities[i] = 1, made.probabilities[pixels + i] = 0;
  const auto q = run(made);
  for (size_t i = 0; i < pixels; ++i) ASSERT_GT(q[i], 0.999f);
}

TEST(Crf, WorksInPlaceAndWithoutKernels) {
  Case made = make_case(6, 15, 11, 3);
  const auto q = run(made);
  CrfOptions off;
  off.spatial_weight = off.bilateral_weight = 0;
  const auto same = run(made, off);
  for (size_t k = 0; k < same.size(); ++k) ASSERT_NEAR(same[k], made.probabilities[k], 1e-6);
  crf(made.rgb, 15, 11, 3, made.probabilities, made.probabilities, {});
  EXPECT_EQ(q, made.probabilities);
}

TEST(Crf, RefusesWhatMakesNoSense) {
  Case made = make_case(6, 15, 11, 3);
  std::vector<float> out(made.probabilities.size() - 1);
  EXPECT_THROW(crf(made.rgb, 15, 11, 3, made.probabilities, out, {}), Error);
  EXPECT_THROW(crf(made.rgb, 0, 11, 3, made.probabilities, made.probabilities, {}), Error);
  for (const float sigma : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    CrfOptions options;
    options.bilateral_sigma_rgb = sigma;
    EXPECT_THROW(run(made, options), UsageError);
  }
  CrfOptions tiny;  // more cells than a key can name
  tiny.bilateral_sigma_xy = 1e-3f, tiny.bilateral_sigma_rgb = 1e-3f;
  EXPECT_THROW(run(made, tiny), Error);
  EXPECT_THROW(crf_preset("deeplab"), UsageError);
}

TEST(Crf, LabelProbabilities) {
  const std::vector<uint8_t> map = {0, 2, 255, 1};
  const auto p = label_probabilities(map, 3, 0.7f);
  const float s = 1 / 3.0f;
  const std::vector<float> expected = {0.7f, 0.15f, s, 0.15f, 0.15f, 0.15f, s, 0.7f, 0.15f, 0.7f, s, 0.15f};
  ASSERT_EQ(p.size(), expected.size());
  for (size_t k = 0; k < p.size(); ++k) EXPECT_NEAR(p[k], expected[k], 1e-6) << k;
  EXPECT_EQ(label_probabilities(map, 1, 0.7f), std::vector<float>(4, 1.0f));
}

// The lattice on its own: after one scale for all, its sums are those of the Gaussian to some 5 percent.
TEST(Permutohedral, SumsOfAGaussian) {
  Rng rng(1);
  constexpr size_t kCount = 600;
  std::vector<float> features(5 * kCount), values(4 * kCount);
  for (float& f : features) f = static_cast<float>(rng.normal());
  for (float& v : values) v = static_cast<float>(rng.uniform());
  const Permutohedral lattice(features, kCount, 1'000'000);
  ASSERT_TRUE(lattice.filled());
  std::vector<float> out(values.size());
  lattice.filter(values.data(), out.data(), 4);
  std::vector<double> exact(kCount);
  double got = 0, wanted = 0, error = 0;
  for (size_t i = 0; i < kCount; ++i) {
    for (size_t j = 0; j < kCount; ++j) {
      double square = 0;
      for (size_t d = 0; d < 5; ++d) square += std::pow(features[d * kCount + i] - features[d * kCount + j], 2);
      exact[i] += std::exp(-0.5 * square) * values[4 * j];
    }
    got += out[4 * i];
    wanted += exact[i];
  }
  for (size_t i = 0; i < kCount; ++i) error += std::abs(out[4 * i] / got - exact[i] / wanted);
  EXPECT_LT(error, 0.05);
}

TEST(GaussianBlur, SumsOverPixels) {
  constexpr size_t kWidth = 9, kHeight = 6;
  Rng rng(2);
  std::vector<float> in(kWidth * kHeight * 4), out(in.size());
  for (float& v : in) v = static_cast<float>(rng.uniform());
  for (const float sigma : {0.3f, 1.0f, 3.0f, 50.0f}) {
    GaussianBlur(kWidth, kHeight, sigma).filter(in.data(), out.data(), 4);
    for (size_t i = 0; i < kWidth * kHeight; ++i) {
      double exact = 0;
      for (size_t j = 0; j < kWidth * kHeight; ++j) {
        const double dx = static_cast<double>(i % kWidth) - static_cast<double>(j % kWidth);
        const double dy = static_cast<double>(i / kWidth) - static_cast<double>(j / kWidth);
        exact += std::exp(-0.5 * (dx * dx + dy * dy) / (sigma * sigma)) * in[4 * j + 2];
      }
      ASSERT_NEAR(out[4 * i + 2], exact, 1e-4 * (1 + exact)) << sigma;
    }
  }
}

}  // namespace
}  // namespace crisp::ops
