#include "crisp/data/class_sizes.h"

#include <gtest/gtest.h>

#include "tests/data/support.h"

namespace crisp::data {
namespace {

TEST(ClassSizes, AreSharesByName) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "sizes.txt";
  const ClassNames classes = {"background", "cat", "traffic light", "dog"};
  write_atomic(file, "# percent of a photo\ntraffic light  2.5\n\ncat\t30 # near\n");
  EXPECT_EQ(read_class_sizes(file, classes), (std::vector<double>{0, 0.3, 0.025, 0}));
  write_atomic(file, "cat, 30\r\ndog,10\r\n");
  EXPECT_EQ(read_class_sizes(file, classes), (std::vector<double>{0, 0.3, 0, 0.1}));
}

TEST(ClassSizes, WhatIsWrongIsNamed) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "sizes.txt";
  const ClassNames classes = {"background", "cat", "dog"};
  const std::pair<const char*, const char*> wrong[] = {
      {"cat 30\nhorse 20\n", "sizes.txt: line 2: no class is called 'horse'; there are cat, dog"},
      {"cat\n", "sizes.txt: line 1: 'cat': a class and how much of a photo it fills, in percent, e.g. `dog 20`"},
      {"cat 0\n", "line 1: 'cat 0'"},
      {"cat 100\n", "line 1: 'cat 100'"},
      {"cat big\n", "line 1: 'cat big'"},
      {"cat 30\ncat 20\n", "line 2: 'cat' is there already"},
      {"background 50\n", "line 1: the background fills what the others leave"},
      {"# nothing\n", "sizes.txt: no size in it"},
  };
  for (const auto& [text, expected] : wrong) {
    write_atomic(file, text);
    EXPECT_SAYS(read_class_sizes(file, classes), expected);
  }
}

}  // namespace
}  // namespace crisp::data
