#include <gtest/gtest.h>

#include <algorithm>

#include "crisp/data/dataset.h"
#include "tests/data/support.h"

namespace crisp::data {
namespace {

using test::put;
using test::put_image;
using test::put_mask;
using Strings = std::vector<std::string>;
using Ints = std::vector<int>;

// A folder of its own with a few photos; each test adds the rest.
class FolderSet : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a.jpg", "b.JPG", "sub/c d.png", "sub/münchen.jpeg"}) put_image(root() / "images" / name);
  }
  const Path& root() const { return folder_.path(); }
  Dataset open(const OpenOptions& options = {}) const { return open_dataset(root(), options); }

 private:
  TemporaryFolder folder_;
};

Strings ids(const std::vector<Sample>& samples) {
  Strings names;
  for (const Sample& sample : samples) names.push_back(sample.id);
  return names;
}

const Sample& by_id(const Dataset& dataset, const std::string& id) {
  const auto found =
      std::find_if(dataset.all.begin(), dataset.all.end(), [&](const Sample& sample) { return sample.id == id; });
  if (found == dataset.all.end()) throw Error("no sample '{}'", id);
  return *found;
}

TEST_F(FolderSet, ReadsTagTextWithNamesNumbersQuotesAndCommas) {
  put(root() / "classes.txt", "background\ncat\npotted plant\n");
  put(root() / "tags.txt", "# what they show\na.jpg cat\nb 2, cat\n\"sub/c d.png\" \"potted plant\"\nsub/münchen 0\n");
  const Dataset set = open();
  EXPECT_EQ(set.kind, DatasetKind::kFolder);
  EXPECT_EQ(ids(set.all), (Strings{"a", "b", "sub/c d", "sub/münchen"}));
  EXPECT_EQ(by_id(set, "a").tags, Ints{1});
  EXPECT_EQ(by_id(set, "b").tags, (Ints{1, 2}));
  EXPECT_EQ(by_id(set, "sub/c d").tags, Ints{2});
  EXPECT_TRUE(by_id(set, "sub/münchen").has_tags);  // background: known to show nothing
  EXPECT_TRUE(by_id(set, "sub/münchen").tags.empty());
  EXPECT_TRUE(set.warnings().empty());
}

TEST_F(FolderSet, ReadsTagTablesAndMakesTheClassList) {
  put(root() / "tags.csv", "file,tags\na.jpg,zebra;cat\n\"sub/c d.png\",cat\nb,\n");
  const Dataset set = open();
  EXPECT_EQ(set.classes, (ClassNames{"background", "cat", "zebra"}));
  EXPECT_EQ(by_id(set, "a").tags, (Ints{1, 2}));
  EXPECT_FALSE(by_id(set, "b").has_tags);  // a line without tags says nothing
  EXPECT_EQ(set.warnings(), Strings{"2 images without tags: b, sub/münchen"});
}

TEST_F(FolderSet, ALineMaySayThatNothingIsBackground) {
  put(root() / "tags.txt", "background: none\na sky grass\nb grass\n");
  EXPECT_EQ(open().classes, (ClassNames{kNoBackground, "grass", "sky"}));
  EXPECT_FALSE(has_background(open().classes));
  EXPECT_EQ(by_id(open(), "a").tags, (Ints{1, 2}));
  put(root() / "classes.txt", "background\ngrass\nsky\n");
  EXPECT_EQ(open().classes, (ClassNames{kNoBackground, "grass", "sky"})) << "the line counts beside a class list too";
  put(root() / "classes.txt", "background: none\ngrass\nsky\n");
  put(root() / "tags.txt", "a sky grass\nb grass\n");
  EXPECT_FALSE(has_background(open().classes)) << "and so does the class list alone";
}

TEST_F(FolderSet, NumbersAloneMakeNumberedClasses) {
  put(root() / "tags.txt", "a 1\nb 3\n");
  EXPECT_EQ(open().classes, (ClassNames{"background", "class 1", "class 2", "class 3"}));
}

TEST(Folder, TakesSubFoldersAsTags) {
  const TemporaryFolder folder;
  for (const char* name : {"cat/1.jpg", "cat/2.jpg", "tree frog/1.jpg"}) put_image(folder.path() / name);
  const Dataset set = open_dataset(folder.path());
  EXPECT_EQ(set.classes, (ClassNames{"background", "cat", "tree frog"}));
  EXPECT_EQ(ids(set.all), (Strings{"cat/1", "cat/2", "tree frog/1"}));
  EXPECT_EQ(set.all[2].tags, Ints{2});
  put(folder.path() / "classes.txt", "background\ncat\n");
  EXPECT_SAYS(open_dataset(folder.path()), "1 unknown tag(s): folder 'tree frog'");
  put(folder.path() / "classes.txt", "background\ncow\n");  // then folders are no tags
  EXPECT_FALSE(open_dataset(folder.path()).all[0].has_tags);
}

TEST_F(FolderSet, FindsMasksByPathOrUniqueStem) {
  put(root() / "classes.txt", "background\ncat\n");
  put_mask(root() / "masks/a.png", {0, 1, 255});
  put_mask(root() / "masks/c d.png", {1});
  put_mask(root() / "masks/b.png", {0, 2});
  const Dataset set = open();
  EXPECT_EQ(set.read_mask(by_id(set, "a")).labels[2], 255);
  EXPECT_EQ(set.read_mask(by_id(set, "sub/c d")).labels[0], 1);
  EXPECT_FALSE(by_id(set, "sub/münchen").has_mask());
  EXPECT_SAYS(set.read_mask(by_id(set, "b")), "b.png: label 2 at x 1, y 0: the classes are 0 to 1");
}

TEST_F(FolderSet, TakesTagsFromMasksOnlyWhenAsked) {
  put(root() / "classes.txt", "background\ncat\ndog\n");
  put_mask(root() / "masks/a.png", {0, 2, 255});
  EXPECT_FALSE(by_id(open(), "a").has_tags);
  OpenOptions options;
  options.tags_from = TagSource::kMasks;
  EXPECT_EQ(by_id(open(options), "a").tags, Ints{2});
  EXPECT_SAYS(require_tags(open(), "train"), "has tags: tags.txt, tags.csv");
}

TEST_F(FolderSet, ReadsSplitsInTheirOrder) {
  put(root() / "splits/train.txt", "sub/c d\na.jpg\n\nimages/b.JPG\n");
  put(root() / "splits/val.txt", "münchen\na\na\nnobody\n");
  const Dataset set = open();
  EXPECT_EQ(ids(set.samples("train")), (Strings{"sub/c d", "a", "b"}));
  EXPECT_EQ(ids(set.samples("val")), (Strings{"sub/münchen", "a"}));
  EXPECT_EQ(set.samples("all").size(), 4u);
  EXPECT_EQ(set.findings.split_without_image, Strings{"val: nobody"});
  EXPECT_EQ(set.findings.listed_twice, Strings{"val: a"});
  EXPECT_SAYS(set.samples("test"), "no split 'test'; there are: train, val, all");
}

TEST_F(FolderSet, HoldsOutTheSameImagesEachTime) {
  for (int i = 0; i < 36; ++i) put_image(root() / "images" / fmt::format("more{}.jpg", i));
  const Dataset set = open();
  EXPECT_TRUE(set.made_splits);
  EXPECT_EQ(set.samples("val").size(), 4u);
  EXPECT_EQ(set.samples("train").size(), 36u);
  EXPECT_EQ(ids(set.samples("val")), ids(open().samples("val")));
  OpenOptions other;
  other.seed = 1;
  EXPECT_NE(ids(set.samples("val")), ids(open(other).samples("val")));
  // A new photo leaves the others where they were, but for the place it may take itself.
  put_image(root() / "images/new.jpg");
  Strings before = ids(set.samples("val")), after = ids(open().samples("val")), both;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(both));
  EXPECT_GE(both.size(), 3u);
}

TEST_F(FolderSet, ReplacesTags) {
  put(root() / "classes.txt", "background\ncat\ndog\n");
  put(root() / "tags.txt", "a cat\nb cat\n");
  Dataset set = open();
  EXPECT_EQ(set.set_tags({{"a", {2, 1, 2}}, {"elsewhere", {1}}}), 1u);
  EXPECT_EQ(by_id(set, "a").tags, (Ints{1, 2}));
  EXPECT_FALSE(by_id(set, "b").has_tags);
  EXPECT_SAYS(set.set_tags({{"a", {3}}}), "tag 3 of 'a': the classes are 1 to 2");
}

TEST_F(FolderSet, ReportsTagsThatFitNothing) {
  put(root() / "classes.txt", "background\ncat\n");
  put(root() / "tags.txt", "a cat\nb catt\nghost.jpg cat\n");
  EXPECT_SAYS(open(), "1 unknown tag(s): tags.txt line 2: 'catt'. Known: background, cat");
  OpenOptions options;
  options.lenient = true;
  const Dataset set = open(options);
  EXPECT_EQ(set.findings.unknown_tags, Strings{"tags.txt line 2: 'catt'"});
  EXPECT_EQ(set.findings.tags_without_image, Strings{"ghost.jpg"});
  EXPECT_FALSE(by_id(set, "b").has_tags);
}

TEST_F(FolderSet, RefusesAmbiguousNames) {
  put_image(root() / "images/other/a.jpg");
  put_image(root() / "images/more/x.jpg");
  put_image(root() / "images/sub/x.jpg");
  put(root() / "tags.txt", "a cat\n");  // the id itself wins over other/a
  EXPECT_EQ(by_id(open(), "a").tags, Ints{1});
  put(root() / "tags.txt", "x cat\n");
  EXPECT_SAYS(open(), "tags.txt: line 1: 'x' fits more/x and sub/x: write the name with its folder");
  put_image(root() / "images/a.png");
  EXPECT_SAYS(open(), "two images of one name: a.jpg and a.png");
}

TEST_F(FolderSet, RefusesBadLists) {
  put(root() / "tags.txt", "a \"cat\nb cat\n");
  EXPECT_SAYS(open(), "tags.txt: line 1: a quote without its end");
  put(root() / "tags.txt", "a cat\n");
  put(root() / "classes.txt", "background\ncat\ncat\n");
  EXPECT_SAYS(open(), "class 'cat' stands on line 2 and again on line 3");
  put(root() / "classes.txt", "background\ncat\n");
  put(root() / "splits/train.txt", "\n# nothing\n");
  EXPECT_SAYS(open().samples("train"), "split 'train' is empty");
}

TEST(Folder, SaysWhatWasLookedFor) {
  const TemporaryFolder folder;
  EXPECT_SAYS(open_dataset(folder.path()), "not a data set: looked for images/");
  put(folder.path() / "file.txt", "x");
  EXPECT_SAYS(open_dataset(folder.path() / "file.txt"), "is a file, a data set is a folder");
  EXPECT_SAYS(open_dataset(folder.path() / "none"), "no such folder");
  put_image(folder.path() / "set/images/a.jpg");
  EXPECT_SAYS(open_dataset(folder.path()), "not a data set");  // one folder too high
  make_folder(folder.path() / "images");
  EXPECT_SAYS(open_dataset(folder.path()), "no .jpg, .jpeg or .png image below images/");
}

}  // namespace
}  // namespace crisp::data
