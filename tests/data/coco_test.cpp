#include "crisp/data/coco.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "crisp/data/dataset.h"
#include "crisp/data/json_scan.h"
#include "tests/data/support.h"
#include "tests/support/support.h"

namespace crisp::data {
namespace {

using test::put;
using test::put_image;
using Json = nlohmann::json;
using Ints = std::vector<int>;

TEST(JsonScan, ReadsWhatIsAskedAndSkipsTheRest) {
  JsonScan scan("x", R"( {"a": 12.0, "skip": {"x": [1, "]}\"", {}]}, "b": "g\u00fcn", "c": [1,2] , "d":-0.5} )");
  scan.begin_object();
  std::string key;
  ASSERT_TRUE(scan.next_key(key));
  EXPECT_EQ(scan.integer(), 12);
  ASSERT_TRUE(scan.next_key(key));
  EXPECT_EQ(scan.skip(), R"({"x": [1, "]}\"", {}]})");
  ASSERT_TRUE(scan.next_key(key));
  EXPECT_EQ(scan.string(), "gün");
  ASSERT_TRUE(scan.next_key(key));
  int64_t sum = 0;
  for (scan.begin_array(); scan.next_item();) sum += scan.integer();
  EXPECT_EQ(sum, 3);
  ASSERT_TRUE(scan.next_key(key));
  EXPECT_EQ(key, "d");
  EXPECT_EQ(scan.number(), -0.5);
  EXPECT_FALSE(scan.next_key(key));
  scan.finish();
}

// A small set: two images, categories with a gap and out of order.
Json small() {
  return Json::parse(R"({
    "images": [{"id": 7, "file_name": "one.jpg", "width": 8, "height": 6},
               {"id": 9, "file_name": "two.jpg", "width": 8, "height": 6}],
    "categories": [{"id": 44, "name": "cup"}, {"id": 3, "name": "dog"}],
    "annotations": [
      {"id": 1, "image_id": 9, "category_id": 44, "iscrowd": 0, "segmentation": [[1, 1, 5, 1, 5, 4, 1, 4]]},
      {"id": 2, "image_id": 9, "category_id": 3, "iscrowd": 1,
       "segmentation": {"size": [6, 8], "counts": [0, 6, 42]}}]})");
}

class CocoSet : public ::testing::Test {
 protected:
  void SetUp() override {
    put_image(root() / "val2017/one.jpg");
    put_image(root() / "val2017/two.jpg");
  }
  const Path& root() const { return folder_.path(); }
  Path file(const std::string& split = "val2017") const {
    return root() / "annotations" / ("instances_" + split + ".json");
  }
  void write(const Json& json) const { put(file(), json.dump()); }
  Dataset open() const { return open_dataset(root()); }

 private:
  TemporaryFolder folder_;
};

TEST_F(CocoSet, NumbersClassesByTheOrderOfTheirIds) {
  write(small());
  const Dataset set = open();
  EXPECT_EQ(set.kind, DatasetKind::kCoco);
  EXPECT_EQ(set.classes, (ClassNames{"background", "dog", "cup"}));
  const auto val = set.samples("val");
  ASSERT_EQ(val.size(), 2u);
  EXPECT_TRUE(val[0].has_tags);
  EXPECT_TRUE(val[0].tags.empty());
  EXPECT_EQ(val[1].tags, (Ints{1, 2}));
  const image::Mask mask = set.read_mask(val[1]);
  EXPECT_EQ(mask.width, 8);
  EXPECT_EQ(mask.row(0)[0], 1);
  EXPECT_EQ(mask.row(2)[2], 2);
  EXPECT_EQ(mask.row(5)[7], 0);
}

TEST_F(CocoSet, SharesImagesBetweenSplitsAndFindsThemInOtherFolders) {
  write(small());
  Json part = small();
  part["images"].erase(0);
  put(file("minival2017"), part.dump());
  const Dataset set = open();
  EXPECT_EQ(set.all.size(), 2u);
  EXPECT_EQ(set.samples("minival2017")[0].id, "two");
  OpenOptions options;
  options.only_split = "minival";
  EXPECT_EQ(open_dataset(root(), options).all.size(), 1u);
}

TEST_F(CocoSet, GoesOnWithoutImagesThatAreNotThere) {
  Json json = small();
  json["images"].push_back({{"id", 11}, {"file_name", "three.jpg"}, {"width", 8}, {"height", 6}});
  write(json);
  EXPECT_EQ(open().findings.split_without_image, std::vector<std::string>{"val2017: three.jpg"});
}

TEST_F(CocoSet, RefusesWhatIsNotTheJsonOfInstances) {
  const std::string whole = small().dump();
  for (size_t length = 0; length < whole.size(); length += 3) {  // cut off anywhere
    put(file(), whole.substr(0, length));
    EXPECT_THROW(CocoFile{file()}, Error) << length;
  }
  put(file(), whole + "]");
  EXPECT_SAYS(open(), "text after the end");
  put(file(), R"({"images": [{"id": "x"}]})");
  EXPECT_SAYS(open(), "byte 19: a value is missing");
  put(file(), R"({"images": [], "annotations": []})");
  EXPECT_SAYS(open(), "the list 'categories' is missing");
  put(file(), "[1, 2]");
  EXPECT_SAYS(open(), "instances_val2017.json: byte 0: '[' where '{' is due");
  put(file(), R"({"info": [1, {]})");
  EXPECT_SAYS(open(), "']' where '}' is due");
}

TEST_F(CocoSet, RefusesReferencesToNothing) {
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json json = small();
    json[Json::json_pointer(pointer)] = value;
    write(json);
  };
  with("/annotations/0/image_id", 5);
  EXPECT_SAYS(open(), "annotation 1 is of image 5, which 'images' does not list");
  with("/annotations/0/category_id", 5);
  EXPECT_SAYS(open(), "annotation 1 has category 5, which 'categories' does not list");
  with("/images/0/id", 9);
  EXPECT_SAYS(open(), "two images have the id 9");
  with("/images/0/width", 0);
  EXPECT_SAYS(open(), "width is 0");
  with("/categories/0/id", 3);
  EXPECT_SAYS(open(), "two categories have the id 3");
}

TEST_F(CocoSet, NamesTheAnnotationOfABadOutline) {
  const auto said = [&](const Json& outline) {
    Json json = small();
    json["annotations"][0]["segmentation"] = outline;
    write(json);
    const Dataset set = open();
    return test::message_of([&] { set.read_mask(set.samples("val")[1]); });
  };
  EXPECT_TRUE(test::has(said(Json::array()), "annotation 1 of two.jpg: it has no outline"));
  EXPECT_TRUE(test::has(said({{1, 2, 3, 4}}), "at least three points"));
  EXPECT_TRUE(test::has(said({{1, 2, 3, 4, 5, 6, 7}}), "at least three points"));
  EXPECT_TRUE(test::has(said({{1, 2, 3, 4, 5, "x"}}), "a coordinate is \"x\""));
  EXPECT_TRUE(test::has(said({{1, 2, 3, 4, 5, Json::array({7})}}), "a coordinate is array"));
  EXPECT_TRUE(test::has(said({{1, 2, 3, 4, 5, 1e9}}), "too far from the image"));
  EXPECT_TRUE(test::has(said({{"size", {6, 8}}, {"counts", {3, 4}}}), "cover 7 pixels, the image has 48 (8x6)"));
  EXPECT_TRUE(test::has(said({{"size", {8, 6}}, {"counts", {48}}}), "of another size than the image, which is [6,8]"));
  EXPECT_TRUE(test::has(said({{"size", {6, 8}}, {"counts", "~~"}}), "not of compressed run lengths"));
}

TEST_F(CocoSet, RefusesFilesOfDifferentCategories) {
  write(small());
  Json other = small();
  other["categories"][0]["name"] = "mug";
  put(file("train2017"), other.dump());
  EXPECT_SAYS(open(), "its categories differ from those of instances_train2017.json");
}

uint32_t crc32(const std::vector<uint8_t>& bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

TEST(CocoReal, MasksAgreeWithPycocotoolsPixelForPixel) {
  CRISP_NEEDS_SHARED();
  const TemporaryFolder folder;
  const Path tar = crisp::test::shared_folder() / "data" / "coco-tiny.tar";
  ASSERT_EQ(crisp::test::run_shell("tar xf " + crisp::test::quote(tar.string()) + " -C " +
                                   crisp::test::quote(folder.path().string()))
                .status,
            0);
  const Json golden = Json::parse(read_text(crisp::test::golden("goldens/data/coco.json")));
  const std::map<std::string, RasteriseOptions> ways = {{"smaller", {}},
                                                        {"file", {Overlap::kFileOrder, Crowd::kClass}},
                                                        {"ignore", {Overlap::kSmallerOnTop, Crowd::kIgnore}}};
  for (const auto& [way, rasterise] : ways) {
    OpenOptions options;
    options.rasterise = rasterise;
    const Dataset set = open_dataset(folder.path() / "coco", options);
    EXPECT_EQ(set.classes.size(), 81u);
    EXPECT_EQ(set.classes[80], "toothbrush");
    ASSERT_EQ(set.all.size(), 38u);
    EXPECT_EQ(set.samples("train").size(), 32u);
    for (const Sample& sample : set.all) {
      const image::Mask mask = set.read_mask(sample);
      std::map<std::string, int64_t> pixels;
      std::array<int64_t, 256> counts{};
      for (const uint8_t label : mask.labels) ++counts[label];
      for (size_t label = 0; label < 256; ++label) {
        if (counts[label] > 0) pixels[std::to_string(label)] = counts[label];
      }
      const Json& expected = golden.at(sample.id).at(way);
      EXPECT_EQ(Json(pixels), expected["pixels"]) << sample.id << " " << way;
      EXPECT_EQ(crc32(mask.labels), expected["crc"].get<uint32_t>()) << sample.id << " " << way;
    }
  }
}

}  // namespace
}  // namespace crisp::data
