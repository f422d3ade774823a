// Which photos a network has learned from: no file of ours is without its card.
#include "crisp/flow/seen_photos.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/base/sha256.h"
#include "crisp/data/lists.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

Path weights() { return project_folder() / "weights"; }

TEST(SeenPhotos, EveryWeightFileHasACardThatFitsIt) {
  const auto cards = nlohmann::json::parse(read_text(weights() / "cards.json"));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(weights())) {
    if (entry.path().extension() != ".safetensors") continue;
    ++files;
    const std::string name = entry.path().filename().string();
    ASSERT_TRUE(cards.contains(name)) << name << " has no card in weights/cards.json";
    EXPECT_EQ(cards[name]["sha256"], to_hex(sha256_of_file(entry.path()))) << name;
    EXPECT_FALSE(cards[name]["how"].get<std::string>().empty()) << name;
    for (const auto& list : cards[name]["photos"]) {
      EXPECT_GT(data::parse_names(weights() / list.get<std::string>()).size(), 100u) << name << ": " << list;
    }
  }
  EXPECT_EQ(files, cards.size()) << "a card of a file that is not there";
}

TEST(SeenPhotos, AScoreOnPhotosSeenBeforeIsCalledOne) {
  const std::vector<std::string> ids = {"2007_000042", "2007_000032", "mine"};  // of val_dev, of train, of nobody
  const auto warnings = flow::seen_before(weights() / "mit_b0.safetensors", ids);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("2 of these 3 photos"), std::string::npos) << warnings[0];
  EXPECT_EQ(flow::seen_before(weights() / "dinov2_vits14.safetensors", {"2007_000042"}).size(), 0u);
  EXPECT_EQ(flow::seen_before(weights() / "dinov2_vits14.safetensors", {"2007_000032"}).size(), 1u);
}

TEST(SeenPhotos, ARunKeepsItsPhotosAndThoseOfItsStart) {
  const TemporaryFolder folder;
  data::Sample sample;
  sample.id = "mine";
  flow::keep_photos_seen(folder.path(), {sample}, weights() / "mit_b0.safetensors");
  std::filesystem::copy_file(golden("goldens/tensor/types.safetensors"), folder.path() / "model.safetensors");
  const auto warnings = flow::seen_before(folder.path() / "model.safetensors", {"mine", "2007_000042", "yours"});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("2 of these 3 photos"), std::string::npos) << warnings[0];
}

}  // namespace
}  // namespace crisp::test
