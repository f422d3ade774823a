// Feature caches whose process is killed, or whose disk is full.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/data/feature_cache_fixture.h"

namespace crisp::data::test {
namespace {

// A process that adds photos from number `first` on, one byte into the pipe for each that was added, until it is
// killed.
pid_t start_adding(const Path& folder, int first, const FeatureShape& shape, int pipe_end) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  FeatureCache cache(folder, features_of_test(), kNoLimit, 3 << 20);
  for (int i = first;; ++i) {
    if (!add_photo(cache, i, shape) || ::write(pipe_end, "x", 1) != 1) ::_exit(1);
  }
}

TEST(FeatureCacheKilled, WholeRecordsStayBitForBit) {
  const TemporaryFolder folder;
  const FeatureShape shape = {3, 16, 16, 384};  // 0.6 MB: long enough to be hit in the middle
  int whole = 0;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = start_adding(folder.path(), whole, shape, ends[1]);
    ::close(ends[1]);
    // Some records, and then a moment that differs from round to round.
    int added = 0;
    char byte = 0;
    while (added < 3 && ::read(ends[0], &byte, 1) == 1) ++added;
    ::usleep(static_cast<useconds_t>(317 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (::read(ends[0], &byte, 1) == 1) ++added;
    ::close(ends[0]);
    FeatureCache cache(folder.path(), features_of_test(), kNoLimit, 3 << 20);
    const int there = static_cast<int>(cache.size());
    // The last one may have been whole before it could be told.
    EXPECT_GE(there, whole + added);
    EXPECT_LE(there, whole + added + 1);
    for (int i = 0; i < there; ++i) EXPECT_TRUE(holds(cache, i, shape)) << i;
    EXPECT_FALSE(cache.find(photo(there)));
    uint64_t on_disk = 0;
    for (const Path& file : list_files(folder.path(), {})) on_disk += std::filesystem::file_size(file);
    EXPECT_EQ(on_disk, cache.bytes());
    whole = there;
  }
  EXPECT_GE(whole, 36);
}

// A process that was killed before a new data file had its name.
TEST(FeatureCacheKilled, AnUnfinishedFileGoes) {
  const TemporaryFolder folder;
  put_bytes(folder.path() / "features-00000.bin.tmp-123-0", "half a head");
  const FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  EXPECT_TRUE(list_files(folder.path(), {}).empty());
}

// A file system that fills up half way through a record.
TEST(FeatureCacheKilled, AFullDiskChangesNothing) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "features-00000.bin";
  const FeatureShape shape = {1, 7, 7, 99};  // 64 + 9702 bytes and 26 zeros a record
  std::string before, after;
  {
    FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
    ASSERT_TRUE(add_photo(cache, 0, shape));
    before = read_text(file);
    const uint64_t bytes = cache.bytes();
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    // In the head, in the values, in the zeros after them.
    for (const uint64_t room : {uint64_t{0}, uint64_t{10}, uint64_t{64}, uint64_t{5000}, uint64_t{9770}}) {
      SCOPED_TRACE(room);
      const rlimit small = {before.size() + room, limit.rlim_max};
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
      const std::string message = message_of([&] { add_photo(cache, 1, shape); });
      ::setrlimit(RLIMIT_FSIZE, &limit);
      EXPECT_TRUE(has(message, file.string() + ": cannot write: File too large")) << message;
      EXPECT_EQ(cache.size(), 1U);
      EXPECT_EQ(cache.bytes(), bytes);
      EXPECT_FALSE(cache.find(photo(1)));
      EXPECT_EQ(read_text(file), before);
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(add_photo(cache, 1, shape)) << "there is room again";
    EXPECT_TRUE(holds(cache, 0, shape));
    EXPECT_TRUE(holds(cache, 1, shape));
  }
  FeatureCache cache(folder.path(), features_of_test(), kNoLimit);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(holds(cache, 1, shape));
}

}  // namespace
}  // namespace crisp::data::test
