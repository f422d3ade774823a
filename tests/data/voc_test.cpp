#include <gtest/gtest.h>

#include <array>

#include "crisp/data/dataset.h"
#include "crisp/data/xml.h"
#include "tests/data/support.h"
#include "tests/support/support.h"

namespace crisp::data {
namespace {

using test::put;
using test::put_image;
using test::put_mask;
using Strings = std::vector<std::string>;
using Ints = std::vector<int>;

const char* const kXml =
    "<?xml version=\"1.0\"?>\n<annotation>\n <!-- <object> --> <folder>VOC2012</folder>\n"
    " <object>\n  <name>person</name>\n  <part><name>head</name></part><difficult>1</difficult>\n </object>\n"
    " <object><name> tv&amp;monitor </name></object>\n <segmented/>\n</annotation>\n";

TEST(Xml, FindsObjectsNotTheirParts) {
  EXPECT_EQ(object_names("x.xml", kXml), (Strings{"person", "tv&monitor"}));
  EXPECT_TRUE(object_names("x.xml", "<annotation/>").empty());
}

TEST(Xml, RefusesWhatIsNotWellNested) {
  EXPECT_SAYS(object_names("x.xml", "<annotation><object></annotation>"), "</annotation> closes nothing");
  EXPECT_SAYS(object_names("x.xml", "<annotation><object>"), "<object> is never closed: was the file cut off?");
  EXPECT_SAYS(object_names("x.xml", "<annotation"), "no '>' follows");
  EXPECT_SAYS(object_names("x.xml", "hello"), "text outside of the root element");
  EXPECT_SAYS(object_names("x.xml", ""), "no element at all");
  EXPECT_SAYS(object_names("x.xml", "<a/><b/>"), "a second root element");
}

class VocSet : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"2007_000001", "2007_000002", "2007_000003"}) {
      put_image(voc() / "JPEGImages" / (std::string(id) + ".jpg"));
    }
    put(voc() / "ImageSets/Segmentation/train.txt", "2007_000002\n2007_000001\n");
    put(voc() / "ImageSets/Segmentation/val.txt",
        "/JPEGImages/2007_000003.jpg /SegmentationClassAug/2007_000003.png\n2007_000009\n");
  }
  Path voc() const { return folder_.path() / "VOCdevkit/VOC2012"; }
  Dataset open(TagSource from = TagSource::kAuto, bool lenient = false) const {
    OpenOptions options;
    options.tags_from = from;
    options.lenient = lenient;
    return open_dataset(folder_.path(), options);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(VocSet, ReadsTagsFromFilesThenAnnotations) {
  put(voc() / "tags/train.txt", "2007_000001 1 15\n2007_000099 3\n");
  put(voc() / "Annotations/2007_000001.xml", "<annotation><object><name>cat</name></object></annotation>");
  put(voc() / "Annotations/2007_000002.xml", "<annotation><object><name>dog</name></object></annotation>");
  const Dataset set = open();
  EXPECT_EQ(set.kind, DatasetKind::kVoc);
  EXPECT_EQ(set.classes, voc_classes());
  const auto train = set.samples("train");
  EXPECT_EQ(train[0].id, "2007_000002");
  EXPECT_EQ(train[0].tags, Ints{12});
  EXPECT_EQ(train[1].tags, (Ints{1, 15}));
  EXPECT_EQ(set.samples("val")[0].id, "2007_000003");
  EXPECT_FALSE(set.samples("val")[0].has_tags);
  EXPECT_EQ(set.findings.tags_without_image, Strings{"2007_000099"});
  EXPECT_EQ(set.findings.split_without_image, Strings{"val: 2007_000009"});
  EXPECT_FALSE(open(TagSource::kFiles).samples("train")[0].has_tags);
  EXPECT_EQ(open(TagSource::kXml).samples("train")[1].tags, Ints{8});
}

TEST_F(VocSet, ReadsMasksOfBothFolders) {
  put_mask(voc() / "SegmentationClass/2007_000001.png", {0, 15, 255});
  put_mask(voc() / "SegmentationClassAug/2007_000001.png", {1});
  put_mask(voc() / "SegmentationClassAug/2007_000002.png", {7});
  const auto train = open(TagSource::kMasks).samples("train");
  EXPECT_EQ(train[0].tags, Ints{7});
  EXPECT_EQ(train[1].tags, Ints{15});
}

TEST_F(VocSet, NamesBrokenAndUnknownAnnotations) {
  put(voc() / "Annotations/2007_000001.xml", "<annotation><object>");
  EXPECT_SAYS(open(), "2007_000001.xml: byte 20: <object> is never closed");
  EXPECT_EQ(open(TagSource::kAuto, true).findings.bad_lists.size(), 1u);
  put(voc() / "Annotations/2007_000001.xml", kXml);
  EXPECT_SAYS(open(), "2007_000001.xml: 'tv&monitor'");
  EXPECT_EQ(open(TagSource::kAuto, true).samples("train")[1].tags, Ints{15});
}

TEST_F(VocSet, AsksWhichYearIsMeant) {
  make_folder(voc().parent_path() / "VOC2007/JPEGImages");
  EXPECT_SAYS(open(), "holds VOC2007 and VOC2012: name the one meant");
}

TEST(VocReal, HasItsCountsAndTagsThatAgreeWithMasks) {
  CRISP_NEEDS_SHARED();
  const TemporaryFolder folder;
  const Path tar = crisp::test::shared_folder() / "data" / "voc12-core.tar";
  ASSERT_EQ(crisp::test::run_shell("tar xf " + crisp::test::quote(tar.string()) + " -C " +
                                   crisp::test::quote(folder.path().string()))
                .status,
            0);
  const Dataset set = open_dataset(folder.path());
  EXPECT_EQ(set.samples("train").size(), 1464u);
  EXPECT_EQ(set.samples("val_dev").size(), 725u);
  EXPECT_EQ(set.findings.split_without_image.size(), 9118u);  // train_aug's other photos come apart
  EXPECT_TRUE(set.findings.unknown_tags.empty());
  EXPECT_EQ(set.classes, voc_classes());
  OpenOptions from_masks;
  from_masks.tags_from = TagSource::kMasks;
  from_masks.threads = 2;
  const auto tagged = set.samples("val_dev"), masked = open_dataset(folder.path(), from_masks).samples("val_dev");
  size_t equal = 0;
  for (size_t i = 0; i < tagged.size(); ++i) equal += tagged[i].tags == masked[i].tags ? 1 : 0;
  EXPECT_GE(equal, 724u) << "of 725";
}

}  // namespace
}  // namespace crisp::data
