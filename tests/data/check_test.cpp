#include "crisp/data/check.h"

#include <gtest/gtest.h>

#include "tests/data/support.h"

namespace crisp::data {
namespace {

using test::has;
using test::put;
using test::put_image;
using test::put_mask;
using Strings = std::vector<std::string>;

class Check : public ::testing::Test {
 protected:
  void SetUp() override {
    put_image(root() / "images/a.png", 8, 6);
    put_image(root() / "images/b.jpg", 10, 6);
    put_image(root() / "images/c.jpg", 12, 9);
    put(root() / "classes.txt", "background\ncat\ndog\nzebra\n");
    put(root() / "tags.txt", "a cat\nb cat dog\nc dog\n");
    put(root() / "splits/train.txt", "a\nb\n");
    put(root() / "splits/val.txt", "c\n");
  }
  const Path& root() const { return folder_.path(); }
  CheckReport run(bool decode = true) const {
    OpenOptions options;
    options.lenient = true;
    return check(open_dataset(root(), options), {2, decode});
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Check, CountsWhatIsThere) {
  put_mask(root() / "masks/a.png", {0, 1, 1, 255}, 8, 6);
  const CheckReport report = run();
  EXPECT_TRUE(report.ok()) << to_text(report);
  EXPECT_EQ(report.images, 3u);
  EXPECT_EQ(report.masked, 1u);
  EXPECT_EQ(report.width.low, 8);
  EXPECT_EQ(report.width.median, 10);
  EXPECT_EQ(report.height.high, 9);
  EXPECT_EQ(report.mask_pixels, (std::vector<int64_t>{12, 24, 0, 0}));
  EXPECT_EQ(report.ignored_pixels, 12);
  ASSERT_EQ(report.splits.size(), 2u);
  EXPECT_EQ(report.splits[0].tagged_with, (std::vector<size_t>{0, 2, 1, 0}));
  EXPECT_EQ(report.never_tagged, Strings{"zebra"});
  const std::string text = to_text(report);
  EXPECT_TRUE(has(text, "  class         train  val  mask area\n  0 background      0    0     25.00%\n")) << text;
  EXPECT_TRUE(has(text, "tags and masks agree on all 1 images")) << text;
  EXPECT_TRUE(has(text, "nothing wrong")) << text;
}

TEST_F(Check, ComparesTagsWithMasks) {
  put_mask(root() / "masks/a.png", {0, 2}, 8, 6);
  const CheckReport report = run();
  EXPECT_EQ(report.not_in_mask, Strings{"a: cat"});
  EXPECT_EQ(report.not_in_tags, Strings{"a: dog"});
  EXPECT_TRUE(report.ok());  // tags made from boxes may differ from masks: a note
}

TEST_F(Check, NamesFilesThatCannotBeRead) {
  const std::string photo = read_text(root() / "images/b.jpg");
  put(root() / "images/b.jpg", photo.substr(0, photo.size() / 2));
  put(root() / "images/c.jpg", "not a photo");
  put_mask(root() / "masks/a.png", {0, 9}, 8, 6);
  const CheckReport report = run();
  ASSERT_EQ(report.unreadable.size(), 3u) << to_text(report);
  EXPECT_TRUE(has(report.unreadable[0], "a.png: label 9 at x 1, y 0")) << report.unreadable[0];
  EXPECT_TRUE(has(report.unreadable[1], "b.jpg")) << report.unreadable[1];
  EXPECT_TRUE(has(report.unreadable[2], "c.jpg")) << report.unreadable[2];
  EXPECT_FALSE(report.ok());
}

TEST_F(Check, NamesEverythingElseThatIsWrong) {
  put(root() / "tags.txt", "a cat\nb catt\nghost cat\n");
  put(root() / "splits/val.txt", "a\na\nnobody\n");
  put(root() / "splits/test.txt", "");
  put_mask(root() / "masks/a.png", {1}, 6, 8);
  write_atomic(root() / "images/copy.jpg", read_text(root() / "images/b.jpg"));
  const CheckReport report = run();
  EXPECT_EQ(report.problems(),
            (Strings{"1 unknown tags: tags.txt line 2: 'catt'", "1 tags for images that are not there: ghost",
                     "1 images in split lists that are not there: val: nobody", "1 names twice in a split list: val: a",
                     "1 empty splits: test", "3 images without tags: b, c, copy",
                     "1 masks of another size than their image: a: image 8x6, mask 6x8"}));
  EXPECT_EQ(report.same_photo, Strings{"b = copy"});
  EXPECT_EQ(report.in_train_and_val, Strings{"a"});
}

TEST_F(Check, SaysWhenNothingIsKnown) {
  std::filesystem::remove(root() / "tags.txt");
  const CheckReport report = run();
  EXPECT_TRUE(report.nothing_known);
  EXPECT_TRUE(report.untagged.empty());
  EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace crisp::data
