// Activation maps and tags as the field's public code saves them.
#include "crisp/base/error.h"
#include "crisp/seed/cam_file.h"
#include "crisp/seed/tag_file.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

Path file(const std::string& name) { return golden("goldens/seed/" + name); }

// map(k) of tests/goldens/seed.py.
float example(int k, int y, int x) { return static_cast<float>((7 * y + 3 * x + 5 * k) % 11) / 10; }

void expect_map(const seed::Cams& cams, size_t place, const std::function<float(int, int)>& expected) {
  for (int y = 0; y < cams.height; ++y) {
    for (int x = 0; x < cams.width; ++x) {
      const float got = cams.maps[(place * static_cast<size_t>(cams.height) + static_cast<size_t>(y)) *
                                      static_cast<size_t>(cams.width) +
                                  static_cast<size_t>(x)];
      ASSERT_NEAR(got, expected(y, x), 1e-6) << place << " " << y << " " << x;
    }
  }
}

TEST(CamFile, ADictByClass) {
  const seed::Cams cams = seed::read_cam_file(file("cams_dict.npy"), 8, 6, 21);
  EXPECT_EQ(cams.classes, (std::vector<int>{1, 3})) << "ascending, the background not counted";
  expect_map(cams, 0, [](int y, int x) { return example(0, y, x); });
  expect_map(cams, 1, [](int y, int x) { return example(2, y, x); });
}

TEST(CamFile, KeysBesideAStackAndTheLargestIsTaken) {
  for (const char* name : {"cams_keys.npy", "cams_torch.npy"}) {
    const seed::Cams cams = seed::read_cam_file(file(name), 8, 6, 21);
    EXPECT_EQ(cams.classes, (std::vector<int>{1, 4})) << name;
    expect_map(cams, 0, [](int y, int x) { return example(0, y, x); });
    expect_map(cams, 1, [](int y, int x) { return example(3, y, x); });
  }
}

TEST(CamFile, ValuesAreClippedAtZeroAndDividedByAMaximumAboveOne) {
  const seed::Cams cams = seed::read_cam_file(file("cams_attention.npy"), 8, 6, 21);
  EXPECT_EQ(cams.classes, (std::vector<int>{2}));
  expect_map(cams, 0, [](int y, int x) { return std::max(0.0f, 4 * example(1, y, x) - 1) / 3; });
}

TEST(CamFile, AnotherFirstClassAndAnotherSize) {
  const seed::Cams shifted = seed::read_cam_file(file("cams_dict.npy"), 16, 12, 21, 5);
  EXPECT_EQ(shifted.classes, (std::vector<int>{5, 7}));
  EXPECT_EQ(shifted.maps.size(), 2u * 16 * 12);
  for (const float value : shifted.maps) ASSERT_TRUE(value >= 0 && value <= 1.00001f);
}

TEST(CamFile, OurOwnCountsAsTheClassesDo) {
  const TemporaryFolder folder;
  const Path own = folder.path() / "a.safetensors";
  tensor::write_safetensors(own, {{"12", torch::full({2, 3}, 0.5).to(torch::kHalf)}});
  const seed::Cams cams = seed::read_cam_file(own, 3, 2, 21);
  EXPECT_EQ(cams.classes, (std::vector<int>{12}));
  expect_map(cams, 0, [](int, int) { return 0.5f; });
  tensor::write_safetensors(own, {{"cat", torch::zeros({2, 3})}});
  const std::string said = error_of([&] { seed::read_cam_file(own, 3, 2, 21); });
  EXPECT_NE(said.find("a.safetensors: the tensor 'cat'"), std::string::npos) << said;
}

TEST(CamFile, MistakesNameTheFile) {
  const auto says = [](const std::string& name, int classes, const std::string& part) {
    const std::string said = error_of([&] { seed::read_cam_file(file(name), 8, 6, classes); });
    EXPECT_NE(said.find(name + ": "), std::string::npos) << said;
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  says("cams_dict.npy", 3, "class 3 (number 2 in the file) is not among classes 1 to 2; --cam-first");
  says("cams_wrong.npy", 21, "2 classes, but maps of shape [1, 6, 8]");
  says("tags_wrong.npy", 21, "an entry is not a class number with a map");
  says("tags.npy", 21, "an entry is not a class number with a map");
}

// Whatever is wrong with a file, it is an Error or a map: never a crash, never another exception.
TEST(CamFile, DamagedFilesAreErrors) {
  const TemporaryFolder folder;
  const Path damaged = folder.path() / "a.npy";
  const std::string whole = read_text(file("cams_torch.npy"));
  const auto attempt = [&](const std::string& bytes) {
    write_atomic(damaged, bytes, Durable::kNo);
    return error_of([&] { seed::read_cam_file(damaged, 8, 6, 21); });
  };
  EXPECT_EQ(attempt(whole), "no error");
  size_t errors = 0;
  for (size_t i = 0; i < whole.size(); i += 5) {
    EXPECT_NE(attempt(whole.substr(0, i)), "no error") << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x5A);
    errors += attempt(changed) != "no error";
  }
  EXPECT_GT(errors, 50u);
}

TEST(TagFile, ReadsWhatNumpySaved) {
  const auto tags = seed::read_tag_file(file("tags.npy"));
  const std::map<std::string, std::vector<int>> expected = {{"2007_000032", {1, 4}}, {"b", {}}, {"c/d", {2}}};
  EXPECT_EQ(tags, expected);
  EXPECT_NE(error_of([] { seed::read_tag_file(file("tags_wrong.npy")); }).find("a name with a vector of numbers"),
            std::string::npos);
  EXPECT_NE(error_of([] { seed::read_tag_file(golden("goldens/tensor/le_f4.npy")); }).find("not a dict"),
            std::string::npos);
}

TEST(TagFile, TheFieldsOwn) {
  CRISP_NEEDS_SHARED();
  const auto tags = seed::read_tag_file(shared_folder() / "data" / "voc12_cls_labels_onehot.npy");
  EXPECT_EQ(tags.size(), 12031u);
  EXPECT_EQ(tags.at("2007_000032"), (std::vector<int>{1, 15}));
  for (const auto& [id, own] : tags) {
    ASSERT_FALSE(own.empty()) << id;
    ASSERT_LE(own.back(), 20) << id;
  }
}

}  // namespace
}  // namespace crisp::test
