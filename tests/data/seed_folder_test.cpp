// The seed folder: what is written is read, what is finished stays, what does not fit is named.
#include "crisp/data/seed_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "crisp/image/encode.h"
#include "tests/data/support.h"

namespace crisp::data::test {
namespace {

SeedFacts facts() {
  return {.made_by = "crispformer seeds --data photos",
          .data = "photos",
          .split = "train",
          .classes = {"background", "cat", "dog"},
          .options = R"({"refine": "crf", "background": "0.45", "crf": {"iterations": 10}})"};
}

Seed seed(std::vector<uint8_t> labels, std::vector<uint8_t> uncertainty) {
  Seed made{image::Mask(static_cast<int>(labels.size()), 1), image::Mask(static_cast<int>(labels.size()), 1)};
  made.labels.labels = std::move(labels);
  made.uncertainty.labels = std::move(uncertainty);
  return made;
}

struct Identity {
  ino_t inode;
  timespec time;
  bool operator==(const Identity& other) const {
    return inode == other.inode && time.tv_sec == other.time.tv_sec && time.tv_nsec == other.time.tv_nsec;
  }
};

Identity identity(const Path& file) {
  struct stat status{};
  EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
  return {status.st_ino, status.st_mtim};
}

TEST(SeedFolder, GoesThroughAFolder) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "seeds";
  {
    SeedWriter writer(path, facts());
    writer.write("a", seed({0, 1, 1, 255}, {0, 17, 200, 255}));
    writer.write("sub/b", seed({2, 2, 0}, {1, 2, 3}));
    writer.skip("c", "cannot be read");
    writer.count_untagged(4);
    const SeedFacts& done = writer.finish({"a", "sub/b", "c"}, 2);
    EXPECT_EQ(done.images, 2);
  }
  ASSERT_TRUE(is_seed_folder(path));
  const SeedFolder seeds(path);
  EXPECT_EQ(seeds.facts().classes, facts().classes);
  EXPECT_EQ(seeds.facts().images, 2);
  EXPECT_EQ(seeds.facts().class_images, (std::vector<int64_t>{2, 1, 1}));
  EXPECT_EQ(seeds.facts().class_pixels, (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(seeds.facts().ignored_pixels, 1);
  EXPECT_EQ(seeds.facts().untagged, 4);
  EXPECT_EQ(seeds.facts().skipped.at("c"), "cannot be read");
  EXPECT_EQ(nlohmann::json::parse(seeds.facts().options)["crf"]["iterations"], 10);
  EXPECT_TRUE(seeds.has("sub/b"));
  EXPECT_FALSE(seeds.has("c"));
  const Seed a = seeds.read("a");
  EXPECT_EQ(a.labels.labels, (std::vector<uint8_t>{0, 1, 1, 255}));
  EXPECT_EQ(a.uncertainty.labels, (std::vector<uint8_t>{0, 17, 200, 255}));
  const auto json = nlohmann::json::parse(read_text(path / "seeds.json"));
  EXPECT_EQ(json["format_version"], 1);
  EXPECT_EQ(json["counts"]["dog"]["pixels"], 2);
}

TEST(SeedFolder, WithoutUncertaintyALabelIsSure) {
  const TemporaryFolder folder;
  SeedWriter writer(folder.path(), facts());
  writer.write("a", seed({0, 1}, {9, 9}));
  const SeedFolder seeds(folder.path(), true);
  std::filesystem::remove(seeds.uncertainty_file("a"));
  EXPECT_EQ(seeds.read("a").uncertainty.labels, (std::vector<uint8_t>{0, 0}));
}

TEST(SeedFolder, FinishedFilesAreNeverRewritten) {
  const TemporaryFolder folder;
  {
    SeedWriter writer(folder.path(), facts());
    writer.write("a", seed({0, 1}, {0, 0}));
  }
  EXPECT_SAYS(SeedFolder(folder.path()), "these seeds are not complete");
  EXPECT_SAYS(SeedFolder(folder.path()), "crispformer seeds --data photos");
  const Identity label = identity(folder.path() / "labels/a.png"), head = identity(folder.path() / "seeds.json");
  {
    SeedWriter writer(folder.path(), facts());  // the same facts: it goes on
    EXPECT_TRUE(writer.has("a"));
    EXPECT_FALSE(writer.has("b"));
    EXPECT_EQ(identity(folder.path() / "seeds.json"), head);
    writer.write("b", seed({2}, {0}));
    writer.finish({"a", "b"}, 1);
  }
  EXPECT_EQ(identity(folder.path() / "labels/a.png"), label);
  EXPECT_EQ(SeedFolder(folder.path()).facts().images, 2);
}

TEST(SeedFolder, OtherFactsAreRefusedByName) {
  const TemporaryFolder folder;
  {
    SeedWriter writer(folder.path(), facts());
  }
  const auto other = [&](void (*change)(SeedFacts&)) {
    SeedFacts wanted = facts();
    change(wanted);
    return message_of([&] { SeedWriter(folder.path(), wanted); });
  };
  EXPECT_TRUE(has(other([](SeedFacts& f) { f.data = "elsewhere"; }), "made with data photos instead of elsewhere"));
  EXPECT_TRUE(has(other([](SeedFacts& f) { f.split = "val"; }), "split train instead of val"));
  EXPECT_TRUE(has(other([](SeedFacts& f) { f.classes[2] = "sheep"; }), "other classes"));
  EXPECT_TRUE(has(
      other([](SeedFacts& f) { f.options = R"({"refine": "par", "background": "0.45", "crf": {"iterations": 10}})"; }),
      R"(refine "crf" instead of "par")"));
  EXPECT_TRUE(has(
      other([](SeedFacts& f) { f.options = R"({"refine": "crf", "background": "0.45", "crf": {"iterations": 5}})"; }),
      R"(crf {"iterations":10} instead of {"iterations":5})"));
  EXPECT_TRUE(has(other([](SeedFacts& f) { f.options = "{}"; }), "choose another --out"));
  EXPECT_EQ(other([](SeedFacts& f) { f.made_by = "typed otherwise"; }), "no error");
}

TEST(SeedFolder, OneWriterAtATime) {
  const TemporaryFolder folder;
  {
    SeedWriter writer(folder.path(), facts());
    EXPECT_SAYS(SeedWriter(folder.path(), facts()), "another crispformer works in this folder");
    EXPECT_SAYS(SeedWriter(folder.path(), facts()), folder.path().string());
  }
  EXPECT_EQ(message_of([&] { SeedWriter(folder.path(), facts()); }), "no error");
}

TEST(SeedFolder, DamageIsNamed) {
  const TemporaryFolder folder;
  EXPECT_SAYS(SeedFolder(folder.path()), "no seeds.json in it");
  EXPECT_FALSE(is_seed_folder(folder.path()));
  SeedWriter writer(folder.path(), facts());
  writer.write("cut", seed({0, 1}, {0, 0}));
  writer.write("high", seed({0, 7}, {0, 0}));
  writer.write("odd", seed({0, 1}, {0, 0}));
  const SeedFolder seeds(folder.path(), true);
  image::write_grey_png(seeds.uncertainty_file("odd"), image::Mask(3, 3));
  const std::string png = read_text(seeds.label_file("cut"));
  put(seeds.label_file("cut"), png.substr(0, png.size() / 2));
  EXPECT_SAYS(seeds.read("cut"), "labels/cut.png");
  EXPECT_SAYS(writer.finish({"cut"}, 1), "labels/cut.png");
  EXPECT_SAYS(seeds.read("high"), "labels/high.png: label 7, but the seeds have 3 classes");
  EXPECT_SAYS(seeds.read("odd"), "uncertainty/odd.png: 3x3, but its labels are 2x1");
  EXPECT_SAYS(seeds.read("nowhere"), "labels/nowhere.png");
}

TEST(SeedFolder, ABrokenHeadIsNamed) {
  const TemporaryFolder folder;
  const Path head = folder.path() / "seeds.json";
  put(head, "{ this is no JSON");
  EXPECT_SAYS(SeedFolder(folder.path()), "seeds.json: cannot be read");
  put(head, R"({"format": "something else"})");
  EXPECT_SAYS(SeedFolder(folder.path()), "its format is not 'crispformer seeds'");
  put(head, R"({"format": "crispformer seeds", "format_version": 9})");
  EXPECT_SAYS(SeedFolder(folder.path()), "newer version of this program");
  put(head, R"({"format": "crispformer seeds", "format_version": 1, "complete": true})");
  EXPECT_SAYS(SeedFolder(folder.path()), "made_by");
}

}  // namespace
}  // namespace crisp::data::test
