// Pieces of one crop in another.
#include "crisp/data/paste.h"

#include <gtest/gtest.h>

#include <set>

namespace crisp::test {
namespace {

data::Example filled(int width, int height, uint8_t value) {
  data::Example example;
  example.image = image::Image(width, height);
  std::fill(example.image.rgb.begin(), example.image.rgb.end(), value);
  for (image::Mask* map : {&example.labels, &example.uncertainty, &example.padding}) {
    *map = image::Mask(width, height, value);
  }
  return example;
}

TEST(Paste, TheBoxAndNothingElseOfEveryMap) {
  data::Example onto = filled(7, 5, 1);
  data::paste(filled(7, 5, 2), {.left = 2, .top = 1, .width = 4, .height = 3}, onto);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      const int wanted = x >= 2 && x < 6 && y >= 1 && y < 4 ? 2 : 1;
      for (int c = 0; c < 3; ++c) EXPECT_EQ(onto.image.row(y)[3 * x + c], wanted) << x << " " << y;
      EXPECT_EQ(onto.labels.row(y)[x], wanted) << x << " " << y;
      EXPECT_EQ(onto.uncertainty.row(y)[x], wanted) << x << " " << y;
      EXPECT_EQ(onto.padding.row(y)[x], wanted) << x << " " << y;
    }
  }
}

TEST(Paste, PiecesLieInsideAndReachEveryEdge) {
  Rng rng(5);
  std::set<int> left, top, widths;
  for (int i = 0; i < 2000; ++i) {
    const data::Box box = data::random_piece(20, 10, rng);
    EXPECT_GE(box.width, 6);
    EXPECT_LE(box.width, 14);
    EXPECT_GE(box.height, 3);
    EXPECT_LE(box.height, 7);
    EXPECT_GE(std::min(box.left, box.top), 0);
    EXPECT_LE(box.left + box.width, 20);
    EXPECT_LE(box.top + box.height, 10);
    widths.insert(box.width);
    left.insert(box.left);
    top.insert(box.top + box.height);
  }
  EXPECT_EQ(widths.size(), 9u);
  EXPECT_EQ(left.size(), 15u) << "0 to 14";
  EXPECT_EQ(top.size(), 8u) << "3 to 10";
  const data::Box dot = data::random_piece(1, 1, rng);
  EXPECT_LE(dot.left + dot.width, 1);
}

}  // namespace
}  // namespace crisp::test
