// Feature caches that were cut, changed, made by others or for others: what is whole stays, the rest is said.
#include "tests/data/feature_cache_fixture.h"

namespace crisp::data::test {
namespace {

constexpr FeatureShape kShape = {1, 1, 2, 3};
constexpr uint64_t kRecord = 128;
constexpr const char* kFile = "features-00000.bin";

FeatureCache opened(const Path& folder) { return {folder, features_of_test(), kNoLimit}; }

// The one data file of a cache of photos 0 to count - 1.
std::string file_of(int count) {
  const TemporaryFolder folder;
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  for (int i = 0; i < count; ++i) add_photo(cache, i, kShape);
  return read_text(folder.path() / kFile);
}

TEST(FeatureCacheDamage, ATornEndIsCutOffWhereverItIsTorn) {
  const std::string whole = file_of(3);
  ASSERT_EQ(whole.size(), kHeadBytes + 3 * kRecord);
  for (uint64_t left = 0; left < kRecord; ++left) {
    SCOPED_TRACE(left);
    const TemporaryFolder folder;
    const Path file = folder.path() / kFile;
    put_bytes(file, whole.substr(0, kHeadBytes + 2 * kRecord + left));
    const std::string said = logged([&] {
      FeatureCache cache = opened(folder.path());
      EXPECT_EQ(cache.size(), 2U);
      EXPECT_EQ(cache.bytes(), kHeadBytes + 2 * kRecord);
      EXPECT_TRUE(holds(cache, 0, kShape));
      EXPECT_TRUE(holds(cache, 1, kShape));
      EXPECT_FALSE(cache.find(photo(2)));
    });
    EXPECT_EQ(has(said, "its last " + std::to_string(left) + " B are no whole record and are cut off"), left > 0);
    EXPECT_EQ(read_text(file), whole.substr(0, kHeadBytes + 2 * kRecord));
    FeatureCache cache = opened(folder.path());
    EXPECT_TRUE(add_photo(cache, 2, kShape));
    EXPECT_EQ(read_text(file), whole);
  }
}

// What a power failure may leave: the file has its length, the data never came.
TEST(FeatureCacheDamage, ZerosAtTheEnd) {
  const std::string whole = file_of(3);
  for (const uint64_t kept : {uint64_t{0}, uint64_t{32}, uint64_t{64}, uint64_t{70}}) {
    SCOPED_TRACE(kept);
    const TemporaryFolder folder;
    std::string bytes = whole.substr(0, kHeadBytes + 2 * kRecord + kept);
    bytes.resize(whole.size(), '\0');
    put_bytes(folder.path() / kFile, bytes);
    FeatureCache cache = opened(folder.path());
    EXPECT_TRUE(holds(cache, 1, kShape));
    EXPECT_FALSE(cache.find(photo(2)));
    EXPECT_TRUE(add_photo(cache, 2, kShape));
    EXPECT_TRUE(holds(cache, 2, kShape));
  }
}

TEST(FeatureCacheDamage, AChangedValueIsNoticedAndMadeAgain) {
  const std::string whole = file_of(3);
  for (uint64_t at = 64; at < 64 + 12; ++at) {  // the values' bytes of photo 1
    SCOPED_TRACE(at);
    const TemporaryFolder folder;
    std::string bytes = whole;
    bytes[kHeadBytes + kRecord + at] ^= 0x10;
    put_bytes(folder.path() / kFile, bytes);
    const std::string said = logged([&] {
      FeatureCache cache = opened(folder.path());
      EXPECT_FALSE(cache.find(photo(1)));
      EXPECT_FALSE(cache.find(photo(1)));
      EXPECT_EQ(cache.size(), 2U);
      EXPECT_TRUE(holds(cache, 0, kShape));
      EXPECT_TRUE(holds(cache, 2, kShape));
      EXPECT_TRUE(add_photo(cache, 1, kShape));
      EXPECT_TRUE(holds(cache, 1, kShape));
    });
    const std::string warning = "the features of photo " + to_hex(photo(1).photo).substr(0, 12) + " (variant 0)";
    EXPECT_TRUE(has(said, (folder.path() / kFile).string() + ": " + warning)) << said;
    EXPECT_EQ(said.find(warning), said.rfind(warning)) << "once: " << said;
    EXPECT_EQ(logged([&] {
                FeatureCache cache = opened(folder.path());
                EXPECT_TRUE(holds(cache, 1, kShape)) << "the newer of two";
                EXPECT_EQ(cache.size(), 3U);
              }),
              "");
  }
}

TEST(FeatureCacheDamage, AChangedRecordHeadCostsThatRecordAlone) {
  const std::string whole = file_of(3);
  for (uint64_t at = 0; at < 64; ++at) {
    SCOPED_TRACE(at);
    const TemporaryFolder folder;
    std::string bytes = whole;
    bytes[kHeadBytes + kRecord + at] ^= 0x01;
    put_bytes(folder.path() / kFile, bytes);
    const std::string said = logged([&] {
      FeatureCache cache = opened(folder.path());
      EXPECT_EQ(cache.size(), 2U);
      EXPECT_TRUE(holds(cache, 0, kShape));
      EXPECT_FALSE(cache.find(photo(1)));
      EXPECT_TRUE(holds(cache, 2, kShape));
      EXPECT_TRUE(add_photo(cache, 1, kShape));
      EXPECT_TRUE(holds(cache, 1, kShape));
    });
    EXPECT_TRUE(has(said, "features-00000.bin: bytes 256 to 384 are damaged")) << said;
    EXPECT_EQ(read_text(folder.path() / kFile).size(), whole.size() + kRecord);
  }
}

TEST(FeatureCacheDamage, ADamagedFileHeadCostsTheFile) {
  const std::string whole = file_of(3);
  // The magic number and the version (bytes 0 to 11) say whose file it is; the rest is covered by a checksum.
  for (const std::string& bytes : {whole.substr(0, 20), whole.substr(0, 70), std::string(), std::string(500, '\0'),
                                   std::string(whole).replace(20, 1, "?"), std::string(whole).replace(66, 1, "?"),
                                   std::string(whole).replace(12, 4, "\xff\xff\xff\xff")}) {
    const TemporaryFolder folder;
    put_bytes(folder.path() / kFile, bytes);
    const std::string said = logged([&] {
      FeatureCache cache = opened(folder.path());
      EXPECT_EQ(cache.size(), 0U);
      EXPECT_EQ(cache.bytes(), 0U);
      EXPECT_TRUE(add_photo(cache, 1, kShape));
      EXPECT_TRUE(holds(cache, 1, kShape));
    });
    EXPECT_TRUE(has(said, "features-00000.bin: its head is damaged")) << said;
  }
}

TEST(FeatureCacheDamage, OtherFeaturesAreRemovedAndTheReasonSaid) {
  const TemporaryFolder folder;
  const auto refill = [&](const FeatureFacts& facts) {
    return logged([&] {
      FeatureCache cache(folder.path(), facts, kNoLimit, kHeadBytes + kRecord);
      EXPECT_EQ(cache.size(), 0U);
      EXPECT_EQ(cache.bytes(), 0U);
      EXPECT_TRUE(list_files(folder.path(), {}).empty());
      for (int i = 0; i < 2; ++i) EXPECT_TRUE(add_photo(cache, i, kShape));
    });
  };
  EXPECT_EQ(refill(features_of_test()), "");
  const std::string weights = refill(features_of_test("others"));
  EXPECT_TRUE(has(weights, "holds features of weights " + to_hex(sha256("weights")).substr(0, 12) + " instead of " +
                               to_hex(sha256("others")).substr(0, 12) + "; 2 files are removed"))
      << weights;
  const std::string view = refill(features_of_test("others", "at 56x56"));
  EXPECT_TRUE(has(view, R"(view "at 28x28" instead of "at 56x56")")) << view;
  EXPECT_EQ(refill(features_of_test("others", "at 56x56 ")).empty(), false) << "to the letter";
}

TEST(FeatureCacheDamage, AForeignFileIsNamedAndNothingIsTouched) {
  for (const char* name : {"holiday.jpg", "features-1.bin", "features-00000.bin.bak", ".hidden"}) {
    const TemporaryFolder folder;
    put_bytes(folder.path() / name, "mine");
    EXPECT_SAYS(opened(folder.path()), (folder.path() / name).string() + ": is no file of a feature cache");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / ".lock"));
    remove_feature_cache(folder.path());
    EXPECT_EQ(read_text(folder.path() / name), "mine");
  }
  const TemporaryFolder folder;
  put_bytes(folder.path() / kFile, "someone else's file of the same name");
  {
    FeatureCache cache(folder.path() / "inner", features_of_test("others"), kNoLimit);
  }
  EXPECT_SAYS(opened(folder.path()), "inner: is no file of a feature cache");
  std::filesystem::remove_all(folder.path() / "inner");
  put_bytes(folder.path() / "features-00001.bin", file_of(1) + "torn");
  put_bytes(folder.path() / "features-00002.bin", "");
  EXPECT_SAYS(opened(folder.path()), "features-00000.bin: is no file of a feature cache");
  EXPECT_EQ(read_text(folder.path() / "features-00001.bin"), file_of(1) + "torn");
  EXPECT_EQ(list_files(folder.path(), {}).size(), 3U);
  remove_feature_cache(folder.path());
  EXPECT_EQ(list_files(folder.path(), {}), std::vector<Path>{folder.path() / kFile});
}

TEST(FeatureCacheDamage, AnotherFormatIsRefusedButMayBeDropped) {
  const TemporaryFolder folder;
  const std::string newer = file_of(1).replace(8, 1, "\x02");
  put_bytes(folder.path() / kFile, newer);
  EXPECT_SAYS(opened(folder.path()), "features-00000.bin: a feature cache of format 2, this program reads 1");
  EXPECT_EQ(read_text(folder.path() / kFile), newer);
  remove_feature_cache(folder.path());
  EXPECT_TRUE(list_files(folder.path(), {}).empty());
  remove_feature_cache(folder.path() / "nowhere");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "nowhere"));
}

}  // namespace
}  // namespace crisp::data::test
