// The feature cache as its callers see it: what is added is found, now, from other threads and at the next opening.
#include "crisp/data/feature_cache.h"

#include <atomic>
#include <thread>

#include "tests/data/feature_cache_fixture.h"

namespace crisp::data::test {
namespace {

constexpr FeatureShape kShape = {2, 3, 4, 5};

TEST(FeatureCache, GoesThroughAFolder) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "made/for it";
  const std::vector<FeatureShape> shapes = {{1, 1, 1, 1}, {3, 7, 5, 11}, {1, 1, 1, 32}, {1, 1, 1, 33}, {2, 64, 1, 9}};
  uint64_t expected = kHeadBytes;
  {
    FeatureCache cache(path, features_of_test(), kNoLimit);
    EXPECT_EQ(cache.size(), 0U);
    for (size_t i = 0; i < shapes.size(); ++i) {
      const int number = static_cast<int>(i);
      EXPECT_FALSE(cache.find(photo(number)));
      EXPECT_TRUE(add_photo(cache, number, shapes[i]));
      EXPECT_TRUE(holds(cache, number, shapes[i])) << "at once";
      expected += feature_bytes(shapes[i]);
    }
    EXPECT_EQ(cache.bytes(), expected);
  }
  FeatureCache cache(path, features_of_test(), kNoLimit);
  EXPECT_EQ(cache.size(), shapes.size());
  EXPECT_EQ(cache.bytes(), expected);
  EXPECT_EQ(std::filesystem::file_size(path / "features-00000.bin"), expected);
  for (size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_TRUE(holds(cache, static_cast<int>(i), shapes[i])) << i;
    const auto address = reinterpret_cast<uintptr_t>(cache.find(photo(static_cast<int>(i)))->values.data());
    EXPECT_EQ(address % 64, 0U);
  }
  EXPECT_FALSE(cache.find(photo(99)));
}

TEST(FeatureCache, SizesOnDisk) {
  EXPECT_EQ(feature_bytes({1, 1, 1, 1}), 128U);
  EXPECT_EQ(feature_bytes({1, 1, 1, 32}), 128U);
  EXPECT_EQ(feature_bytes({1, 1, 1, 33}), 192U);
  EXPECT_EQ(feature_bytes({3, 32, 32, 384}), 64U + 3 * 32 * 32 * 384 * 2);
  EXPECT_SAYS(feature_bytes({3, 0, 32, 384}), "features of shape 3x0x32x384: a side is 0");
  constexpr uint32_t kHuge = 1U << 31;
  EXPECT_SAYS(feature_bytes({kHuge, kHuge, kHuge, kHuge}), "larger than 1.0 TiB");
}

TEST(FeatureCache, VariantsOfAPhotoAreDistinct) {
  const TemporaryFolder folder;
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  EXPECT_TRUE(cache.add(photo(1, 0), kShape, values_of(10, kShape)));
  EXPECT_FALSE(cache.find(photo(1, 1)));
  EXPECT_TRUE(cache.add(photo(1, 1), kShape, values_of(11, kShape)));
  EXPECT_TRUE(std::ranges::equal(cache.find(photo(1, 0))->values, values_of(10, kShape)));
  EXPECT_TRUE(std::ranges::equal(cache.find(photo(1, 1))->values, values_of(11, kShape)));
}

TEST(FeatureCache, WhatIsThereStays) {
  const TemporaryFolder folder;
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  EXPECT_TRUE(add_photo(cache, 1, kShape));
  const uint64_t before = cache.bytes();
  EXPECT_TRUE(cache.add(photo(1), kShape, values_of(2, kShape)));
  EXPECT_EQ(cache.bytes(), before);
  EXPECT_TRUE(holds(cache, 1, kShape));
}

TEST(FeatureCache, ValuesMustFitTheirShape) {
  const TemporaryFolder folder;
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  EXPECT_SAYS(cache.add(photo(1), kShape, std::vector<uint16_t>(7)),
              "features of shape 2x3x4x5 need 120 values, 7 were given");
  EXPECT_EQ(cache.size(), 0U);
}

TEST(FeatureCache, NeverGrowsOverItsLimit) {
  const TemporaryFolder folder;
  const uint64_t limit = kHeadBytes + 3 * feature_bytes(kShape);
  {
    FeatureCache cache(folder.path(), features_of_test(), limit);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(add_photo(cache, i, kShape)) << i;
    EXPECT_FALSE(add_photo(cache, 3, kShape));
    EXPECT_FALSE(cache.find(photo(3)));
    EXPECT_TRUE(add_photo(cache, 0, kShape)) << "it is there already";
    EXPECT_EQ(cache.bytes(), limit);
  }
  {
    FeatureCache cache(folder.path(), features_of_test(), limit);
    EXPECT_FALSE(add_photo(cache, 3, kShape)) << "what earlier runs wrote counts";
  }
  FeatureCache smaller(folder.path(), features_of_test(), 0);
  EXPECT_FALSE(add_photo(smaller, 3, kShape));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(holds(smaller, i, kShape)) << "what is there may be used";
}

TEST(FeatureCache, BeginsFurtherFiles) {
  const TemporaryFolder folder;
  const uint64_t file_bytes = kHeadBytes + 2 * feature_bytes(kShape);
  const FeatureShape large = {4, 10, 10, 10};  // more than a file
  {
    FeatureCache cache(folder.path(), features_of_test(), kNoLimit, file_bytes);
    for (int i = 0; i < 5; ++i) add_photo(cache, i, kShape);
    add_photo(cache, 5, large);
    add_photo(cache, 6, kShape);
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(holds(cache, i, i == 5 ? large : kShape)) << i;
    EXPECT_EQ(cache.bytes(), 5 * kHeadBytes + 6 * feature_bytes(kShape) + feature_bytes(large));
  }
  EXPECT_EQ(list_files(folder.path(), {}).size(), 5U);
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit, file_bytes);
  EXPECT_EQ(cache.size(), 7U);
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(holds(cache, i, i == 5 ? large : kShape)) << i;
  add_photo(cache, 7, kShape);
  EXPECT_TRUE(holds(cache, 7, kShape));
  EXPECT_EQ(list_files(folder.path(), {}).size(), 5U) << "the last file had room";
}

TEST(FeatureCache, FeaturesOutliveTheCache) {
  const TemporaryFolder folder;
  std::optional<Features> kept;
  {
    FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
    add_photo(cache, 1, kShape);
    kept = cache.find(photo(1));
  }
  remove_feature_cache(folder.path());
  EXPECT_TRUE(list_files(folder.path(), {}).empty());
  EXPECT_TRUE(std::ranges::equal(kept->values, values_of(1, kShape)));
}

TEST(FeatureCache, SafeFromSeveralThreads) {
  const TemporaryFolder folder;
  constexpr int kPhotos = 400;
  std::atomic<int> wrong{0}, seen{0};
  {
    FeatureCache cache(folder.path(), features_of_test(), kNoLimit, 16 * 1024);  // many files
    std::atomic<bool> done{false};
    const auto adding = [&](int first) {  // both add every photo, in different orders
      for (int i = 0; i < kPhotos; ++i) wrong += !add_photo(cache, (first + i) % kPhotos, kShape);
    };
    const auto finding = [&] {
      for (int i = 0; !done || i % kPhotos != 0; ++i) {
        const auto found = cache.find(photo(i % kPhotos));
        seen += found.has_value();
        wrong += found && !std::ranges::equal(found->values, values_of(i % kPhotos, kShape));
      }
    };
    std::vector<std::thread> adders, finders;
    adders.emplace_back(adding, 0);
    adders.emplace_back(adding, kPhotos / 2);
    finders.emplace_back(finding);
    finders.emplace_back(finding);
    for (std::thread& thread : adders) thread.join();
    done = true;
    for (std::thread& thread : finders) thread.join();
    EXPECT_EQ(cache.size(), static_cast<size_t>(kPhotos));
    const uint64_t files = list_files(folder.path(), {}).size();
    EXPECT_EQ(cache.bytes(), files * kHeadBytes + kPhotos * feature_bytes(kShape)) << "each photo once";
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(seen, 0);
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  std::vector<std::thread> readers;  // the first looks at the records, from two threads
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      for (int i = 0; i < kPhotos; ++i) wrong += !holds(cache, i, kShape);
    });
  }
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(FeatureCache, OneProcessAtATime) {
  const TemporaryFolder folder;
  const FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  EXPECT_SAYS(FeatureCache(folder.path(), features_of_test(), kNoLimit), "another crispformer works in this folder");
  EXPECT_SAYS(remove_feature_cache(folder.path()), "another crispformer works in this folder");
}

}  // namespace
}  // namespace crisp::data::test
