#include "crisp/data/matching.h"

#include <gtest/gtest.h>

#include "tests/data/support.h"

namespace crisp::data {
namespace {

using test::put;
using test::put_mask;
using Strings = std::vector<std::string>;

class Matching : public ::testing::Test {
 protected:
  Path pred() const { return folder_.path() / "pred"; }
  Path truth() const { return folder_.path() / "truth"; }
  Path list() const { return folder_.path() / "list.txt"; }
  void fill(const Path& folder, const Strings& names) const {
    for (const std::string& name : names) put_mask(folder / name, {0});
  }
  MatchResult match(bool with_list = false, bool allow_missing = false) const {
    return match_folders(pred(), truth(), with_list ? std::optional(list()) : std::nullopt, allow_missing);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Matching, PairsByPathElseByStem) {
  fill(truth(), {"x/a.png", "y/a.png", "z/c d.png", "é.png"});
  fill(pred(), {"x/a.png", "y/a.PNG", "c d.png", "deep/er/é.png", "extra.png"});
  const MatchResult result = match();
  ASSERT_EQ(result.pairs.size(), 4u);
  EXPECT_EQ(result.pairs[0].prediction, pred() / "x/a.png");
  EXPECT_EQ(result.pairs[1].prediction, pred() / "y/a.PNG");
  EXPECT_EQ(result.pairs[2].name, "z/c d");
  EXPECT_EQ(result.pairs[2].prediction, pred() / "c d.png");
  EXPECT_EQ(result.pairs[3].prediction, pred() / "deep/er/é.png");
  EXPECT_EQ(result.unmatched, Strings{"extra"});
  EXPECT_TRUE(result.missing.empty());
}

TEST_F(Matching, NamesDuplicates) {
  fill(truth(), {"a.png"});
  fill(pred(), {"x/a.png", "y/a.png"});
  EXPECT_SAYS(match(), "'a' fits several masks: " + (pred() / "x/a.png").string() + " and");
  const TemporaryFolder second;
  fill(second.path(), {"x/a.png", "y/a.png"});
  EXPECT_SAYS(match_masks(list_masks(second.path()), {{"a", "a.png"}}), "'a' fits several masks");
  fill(pred(), {"b.png", "b.PNG"});
  EXPECT_SAYS(match(), "two masks of one name: b.PNG and b.png");
}

TEST_F(Matching, ListsMissingPredictions) {
  fill(truth(), {"a.png", "b.png", "c.png"});
  fill(pred(), {"a.png"});
  EXPECT_SAYS(match(), "2 of 3 predictions are missing: b, c");
  const MatchResult result = match(false, true);
  EXPECT_EQ(result.missing, (Strings{"b", "c"}));
  EXPECT_TRUE(result.pairs[1].prediction.empty());
  fill(truth().parent_path() / "other", {"q.png"});
  EXPECT_SAYS(match_folders(truth().parent_path() / "other", truth(), std::nullopt, true), "none of its 1 mask(s)");
}

TEST_F(Matching, FollowsTheList) {
  fill(truth(), {"a.png", "b.png", "s/c.png"});
  fill(pred(), {"a.png", "c.png"});
  put(list(), "c\na.jpg\n");
  const MatchResult result = match(true);
  ASSERT_EQ(result.pairs.size(), 2u);
  EXPECT_EQ(result.pairs[0].name, "s/c");
  EXPECT_EQ(result.pairs[1].name, "a");
  put(list(), "a\nnobody\n");
  EXPECT_SAYS(match(true), "1 name(s) without a truth mask: nobody");
  put(list(), "a\na.png\n");
  EXPECT_SAYS(match(true), "'a.png' is listed twice");
  put(list(), "\n");
  EXPECT_SAYS(match(true), "the list is empty");
}

TEST_F(Matching, ReadsLabelsOfASeedFolder) {
  fill(truth(), {"a.png"});
  fill(pred(), {"labels/a.png", "uncertainty/a.png"});
  put(pred() / "seeds.json", "{}");
  EXPECT_EQ(match().pairs[0].prediction, pred() / "labels/a.png");
}

TEST_F(Matching, RefusesFoldersWithoutMasks) {
  EXPECT_SAYS(match(), "truth: no such folder of masks");
  fill(truth(), {"a.png"});
  put(pred() / "a.jpg", "x");
  EXPECT_SAYS(match(), "pred: no .png mask in this folder");
}

}  // namespace
}  // namespace crisp::data
