#include "crisp/data/rasterise.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "tests/support/support.h"

namespace crisp::data {
namespace {

using image::Mask;

nlohmann::json polygons() { return nlohmann::json::parse(read_text(test::golden("goldens/data/polygons.json"))); }

TEST(Rasterise, DrawsPolygonsAsPycocotoolsDoes) {
  const auto cases = polygons()["drawn"];
  ASSERT_GT(cases.size(), 40u);
  for (const auto& one : cases) {
    const int width = one["width"], height = one["height"];
    Mask ours(width, height), theirs(width, height);
    for (const auto& part : one["parts"]) {
      const Runs runs = polygon_runs(part.get<std::vector<double>>(), width, height);
      check_runs(runs, width, height);
      paint_runs(runs, 1, ours);
    }
    paint_runs(one["counts"].get<Runs>(), 1, theirs);
    EXPECT_EQ(ours.labels, theirs.labels) << one["name"];
  }
}

TEST(Rasterise, DecodesCompressedRunLengths) {
  const auto cases = polygons();
  for (const auto& one : cases["packed"]) {
    const Runs runs = decode_runs(one["text"].get<std::string>());
    EXPECT_EQ(runs, one["counts"].get<Runs>());
    check_runs(runs, one["width"], one["height"]);
  }
}

TEST(Rasterise, RefusesRunLengthsThatAreNone) {
  EXPECT_THROW(decode_runs("abc\x1f"), Error);      // not of the alphabet
  EXPECT_THROW(decode_runs("o"), Error);            // goes on behind the end
  EXPECT_THROW(decode_runs("oooooooooo0"), Error);  // more than 32 bits
  EXPECT_THROW(decode_runs("O"), Error);            // -1
  EXPECT_THROW(check_runs(Runs{3, 4}, 4, 2), Error);
  EXPECT_THROW(check_runs(Runs{4294967295u, 4294967295u}, 4, 2), Error);
  EXPECT_NO_THROW(check_runs(Runs{3, 5}, 4, 2));
}

TEST(Rasterise, PaintsDownTheColumns) {
  Mask mask(3, 2);
  paint_runs(Runs{1, 2, 3}, 7, mask);
  EXPECT_EQ(mask.labels, (std::vector<uint8_t>{0, 7, 0, 7, 0, 0}));
  EXPECT_EQ(runs_area(Runs{1, 2, 3}), 2);
}

// A row of six pixels, one column high: runs are pixels from left to right.
TEST(Rasterise, SettlesOverlapsByTheRuleAsked) {
  const Region small{{{2, 1, 3}}, 1, false}, large{{{1, 4, 1}}, 2, false}, crowd{{{2, 1, 3}, {5, 1}}, 3, true};
  const std::vector<Region> regions = {small, large, crowd};
  EXPECT_EQ(semantic_mask(regions, 6, 1, {}).labels, (std::vector<uint8_t>{0, 2, 1, 2, 2, 3}));
  EXPECT_EQ(semantic_mask(regions, 6, 1, {Overlap::kFileOrder, Crowd::kIgnore}).labels,
            (std::vector<uint8_t>{0, 2, 2, 2, 2, 255}));
}

TEST(Rasterise, CountsOverlappingPartsOnce) {
  // Two parts cover the same two pixels: area 2, so the region of area 3 lies beneath.
  const std::vector<Region> regions = {{{{0, 2, 4}, {0, 2, 4}}, 1, false}, {{{0, 3, 3}}, 2, false}};
  EXPECT_EQ(semantic_mask(regions, 6, 1, {}).labels, (std::vector<uint8_t>{1, 1, 2, 0, 0, 0}));
}

TEST(Rasterise, StopsAPolygonThatWouldEatTheMemory) {
  std::vector<double> zigzag;
  for (int i = 0; i < 1000; ++i) {
    zigzag.push_back(i % 2 == 0 ? -kFarthest : kFarthest);
    zigzag.push_back(i);
  }
  EXPECT_THROW(polygon_runs(zigzag, 10, 10), Error);
}

}  // namespace
}  // namespace crisp::data
