#include "crisp/data/synth.h"

#include <gtest/gtest.h>

#include <array>

#include "crisp/data/check.h"
#include "crisp/data/dataset.h"
#include "crisp/data/synth/scene.h"
#include "crisp/data/synth/shapes.h"
#include "tests/data/support.h"

namespace crisp::data {
namespace {

using synth::Vec;

TEST(Shapes, MeasureSignedDistances) {
  using namespace synth;
  EXPECT_DOUBLE_EQ(distance(disc({1, 1}, 2), {1, 4}), 1);
  EXPECT_DOUBLE_EQ(distance(ring({0, 0}, 3, 0.5), {3, 0}), -0.5);
  EXPECT_DOUBLE_EQ(distance(stroke({{0, 0}, {4, 0}}, 1, 0), {2, 2}), 1.5);  // half way: half the width
  const Shape square = polygon({{0, 0}, {4, 0}, {4, 4}, {0, 4}});
  EXPECT_DOUBLE_EQ(distance(square, {1, 2}), -1);
  EXPECT_DOUBLE_EQ(distance(square, {7, 8}), 5);
  EXPECT_NEAR(distance(ellipse({0, 0}, 3, 1), {0, 1}), 0, 1e-12);
  EXPECT_NEAR(distance(ellipse({0, 0}, 3, 1), {3, 0}), 0, 1e-12);
  const Box box = bounds(stroke({{0, 0}, {4, 2}}, 1));
  EXPECT_DOUBLE_EQ(box.low.x, -1);
  EXPECT_DOUBLE_EQ(box.high.y, 3);
}

TEST(Synth, MakesTheSameFilesWhateverTheThreads) {
  const TemporaryFolder one, two;
  render_dataset({6, 64, 6, 3}, one.path() / "set", 1);
  render_dataset({6, 64, 6, 3}, two.path() / "set", 3);
  const auto files = list_files(one.path(), {});
  ASSERT_EQ(files.size(), 6u + 6u + 5u);
  for (const Path& file : files) {
    EXPECT_EQ(read_text(file), read_text(two.path() / file.lexically_relative(one.path()))) << file;
  }
  EXPECT_NE(synth::render_scene(64, 64, 6, Rng(3, 0)).photo.rgb, synth::render_scene(64, 64, 6, Rng(4, 0)).photo.rgb);
}

TEST(Synth, WritesADataSetWithoutFault) {
  const TemporaryFolder folder;
  const Path root = folder.path() / "set";
  render_dataset({40, 96, 9, 1}, root, 2);
  const Dataset set = open_dataset(root);
  EXPECT_EQ(set.classes.size(), 9u);
  EXPECT_EQ(set.samples("train").size(), 32u);
  EXPECT_EQ(set.samples("val").size(), 8u);
  const CheckReport report = check(set, {2, true});
  EXPECT_TRUE(report.ok()) << to_text(report);
  EXPECT_EQ(report.compared, 40u);
  EXPECT_TRUE(report.not_in_mask.empty() && report.not_in_tags.empty() && report.never_tagged.empty());
  EXPECT_EQ(std::max(report.width.high, report.height.high), 96);
}

// Objects fill a fair part of the picture, every class its share, and none is a blob: thin parts give
// outlines that are long for their area.
TEST(Synth, ShowsEveryClassWithThinParts) {
  std::array<int64_t, 9> images{}, area{}, edge{};
  int64_t pixels = 0;
  constexpr int kScenes = 60, kSide = 128;
  for (uint64_t i = 0; i < kScenes; ++i) {
    const image::Mask mask = synth::render_scene(kSide, kSide, 9, Rng(5, i)).truth;
    std::array<int64_t, 9> here{};
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const size_t label = mask.row(y)[x];
        ASSERT_LT(label, 9u);
        ++here[label];
        if (x + 1 < kSide && mask.row(y)[x + 1] != label) ++edge[label];
        if (y + 1 < kSide && mask.row(y + 1)[x] != label) ++edge[label];
      }
    }
    pixels += kSide * kSide;
    for (size_t label = 0; label < 9; ++label) {
      area[label] += here[label];
      images[label] += here[label] > 0 ? 1 : 0;
      EXPECT_TRUE(here[label] == 0 || here[label] >= synth::kFewestPixels);
    }
  }
  for (size_t label = 1; label < 9; ++label) EXPECT_GE(images[label], 5) << label;
  const double background = static_cast<double>(area[0]) / static_cast<double>(pixels);
  EXPECT_GT(background, 0.6);
  EXPECT_LT(background, 0.92);
  EXPECT_GT(static_cast<double>(edge[1]) / static_cast<double>(area[1]), 0.12);  // wheels: spokes
  EXPECT_GT(static_cast<double>(edge[2]) / static_cast<double>(area[2]), 0.1);   // chairs: legs
}

TEST(Synth, CloserObjectsCoverMore) {
  const auto covered = [](double zoom) {
    int64_t pixels = 0;
    for (uint64_t i = 0; i < 16; ++i) {
      const image::Mask mask = synth::render_scene(96, 96, 9, Rng(5, i), zoom).truth;
      pixels += std::count_if(mask.labels.begin(), mask.labels.end(), [](uint8_t label) { return label > 0; });
    }
    return pixels;
  };
  EXPECT_GT(covered(1.5), 1.1 * static_cast<double>(covered(1)));
}

TEST(Synth, RefusesBadOptions) {
  const TemporaryFolder folder;
  EXPECT_SAYS(render_dataset({1, 64, 6, 0}, folder.path() / "x", 1), "--images 1: between 2 and");
  EXPECT_SAYS(render_dataset({4, 8, 6, 0}, folder.path() / "x", 1), "--size 8: between 32 and 4096");
  EXPECT_SAYS(render_dataset({4, 64, 10, 0}, folder.path() / "x", 1), "--classes 10: between 2 and 9");
  EXPECT_SAYS(render_dataset({4, 64, 6, 0, 9}, folder.path() / "x", 1), "--zoom 9: between 0.5 and 3");
  test::put(folder.path() / "full/mine.txt", "x");
  EXPECT_SAYS(render_dataset({4, 64, 6, 0}, folder.path() / "full", 1), "is not empty; name a new folder");
  render_dataset({2, 32, 2, 0}, folder.path() / "set", 1);
  EXPECT_SAYS(render_dataset({2, 32, 2, 1}, folder.path() / "set", 1), "holds scenes of other options");
  EXPECT_NO_THROW(render_dataset({2, 32, 2, 0}, folder.path() / "set", 1));
}

}  // namespace
}  // namespace crisp::data
