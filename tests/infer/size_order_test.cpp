// Photos ordered so that those of one size are neighbours.
#include "crisp/infer/size_order.h"

#include <gtest/gtest.h>

#include "crisp/image/encode.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

TEST(SizeOrder, OneSizeStandsTogetherAndWhatCannotBeReadComesFirst) {
  const TemporaryFolder folder;
  std::vector<Path> files;
  for (const auto& [width, height] : {std::pair{9, 5}, {4, 8}, {9, 5}, {4, 7}, {4, 8}}) {
    files.push_back(folder.path() / (std::to_string(files.size()) + ".jpg"));
    image::write_jpeg(files.back(), image::Image(width, height));
  }
  files.push_back(folder.path() / "missing.jpg");
  EXPECT_EQ(infer::size_order(files), (std::vector<size_t>{5, 3, 1, 4, 0, 2}));
  EXPECT_TRUE(infer::size_order({}).empty());
}

}  // namespace
}  // namespace crisp::test
