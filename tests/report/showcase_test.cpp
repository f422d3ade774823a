#include "crisp/report/showcase.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crisp/base/parallel.h"
#include "crisp/base/random.h"

namespace crisp::report {
namespace {

Example with_label(uint8_t label) {
  Example example;
  example.truth = image::Mask(1, 1, label);
  return example;
}

std::vector<std::string> names_of(const std::vector<Example>& examples) {
  std::vector<std::string> names;
  for (const Example& example : examples) names.push_back(example.name);
  return names;
}

TEST(ReportShowcase, KeepsTheBestAndTheWorstWhateverTheOrder) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const size_t best = static_cast<size_t>(rng.below(4)), worst = static_cast<size_t>(rng.below(5));
    const int64_t count = rng.below(30);
    std::vector<std::pair<double, std::string>> scores;  // few different scores, so that names decide
    for (int64_t i = 0; i < count; ++i)
      scores.emplace_back(static_cast<double>(rng.below(6)), "image " + std::to_string(i));
    Showcase showcase(best, worst);
    parallel_for(count, 3, [&](int64_t i) {
      const auto& [score, name] = scores[static_cast<size_t>(i)];
      showcase.offer(name, score, [&] { return with_label(static_cast<uint8_t>(i)); });
    });
    std::sort(scores.begin(), scores.end());
    const size_t high = std::min(best, scores.size()), low = std::min(worst, scores.size() - high);
    std::vector<std::string> lowest, highest;
    for (size_t i = 0; i < low; ++i) lowest.push_back(scores[i].second);
    for (size_t i = 0; i < high; ++i) highest.push_back(scores[scores.size() - 1 - i].second);
    const Examples chosen = showcase.take();
    EXPECT_EQ(names_of(chosen.worst), lowest) << "seed " << seed;
    EXPECT_EQ(names_of(chosen.best), highest) << "seed " << seed;
    for (const Example& example : chosen.best) {
      EXPECT_EQ(example.name, "image " + std::to_string(example.truth.labels[0])) << "its own picture";
    }
  }
}

TEST(ReportShowcase, MakesOnlyWhatIsShown) {
  Showcase showcase(1, 1);
  int made = 0;
  for (const double score : {5.0, 9.0, 1.0, 4.0, 6.0, 2.0}) {
    showcase.offer(std::to_string(score), score, [&] { return ++made, Example(); });
  }
  EXPECT_EQ(made, 3);
}

TEST(ReportShowcase, ThumbnailsKeepTheirShape) {
  const auto expect = [](int width, int height, int small_width, int small_height) {
    const ThumbnailSize size = thumbnail_size(width, height);
    EXPECT_EQ(size.width, small_width);
    EXPECT_EQ(size.height, small_height);
  };
  expect(576, 288, 288, 144);
  expect(100, 50, 100, 50);
  expect(1, 4000, 1, 288);
  const Example example = make_example(image::Mask(576, 288, 3), image::Mask(576, 288, 4));
  EXPECT_EQ(example.truth.width, 288);
  EXPECT_EQ(example.prediction.labels[0], 4);
  EXPECT_EQ(example.uncertainty.width, 0);
}

}  // namespace
}  // namespace crisp::report
