#include "crisp/base/text.h"

#include <gtest/gtest.h>

namespace crisp {

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split("a, b,,c ", ','), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split_words("  one\ttwo \n"), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(split_lines("\xEF\xBB\xBFx\r\ny\n\nz"), (std::vector<std::string>{"x", "y", "", "z"}));
  EXPECT_EQ(trim(" \t "), "");
}

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_integer("21"), 21);
  EXPECT_FALSE(parse_integer("21px"));
  EXPECT_FALSE(parse_integer(""));
  EXPECT_DOUBLE_EQ(*parse_number("0.75"), 0.75);
  EXPECT_FALSE(parse_number("0.7.5"));
}

TEST(Text, ShortensLongLists) {
  EXPECT_EQ(join_some({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(format_bytes(7654321), "7.3 MiB");
}

}  // namespace crisp
