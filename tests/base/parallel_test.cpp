#include "crisp/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "crisp/base/error.h"
#include "crisp/base/memory.h"
#include "crisp/base/progress.h"
#include "crisp/base/random.h"
#include "crisp/base/thread_pool.h"

namespace crisp {
namespace {

TEST(ParallelFor, DoesEachItemOnce) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> done(100);
    parallel_for(100, threads, [&](int64_t i) { ++done[static_cast<size_t>(i)]; });
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
  parallel_for(0, 4, [](int64_t) { FAIL() << "nothing to do"; });
}

TEST(ParallelFor, PassesTheFirstExceptionOn) {
  std::atomic<int> calls = 0;
  EXPECT_THROW(parallel_for(100000, 3,
                            [&](int64_t i) {
                              ++calls;
                              if (i == 5) throw Error("item {}", i);
                            }),
               Error);
  EXPECT_LT(calls, 100000) << "the rest is not started any more";
}

TEST(BoundedQueue, HoldsNoMoreThanItsCapacityAndDrainsAfterClosing) {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed = 0;
  std::jthread producer([&] {
    for (int i = 0; i < 5; ++i) {
      if (!queue.push(i)) return;
      ++pushed;
    }
    queue.close();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(pushed, 2);
  std::vector<int> got;
  while (const auto item = queue.pop()) got.push_back(*item);
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(queue.push(6));
}

TEST(ThreadPool, GivesResultsAndExceptionsBack) {
  ThreadPool pool(3);
  std::vector<std::future<int>> results;
  for (int i = 0; i < 50; ++i) results.push_back(pool.submit([i] { return i * i; }));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(results[static_cast<size_t>(i)].get(), i * i);
  auto broken = pool.submit([]() -> int { throw Error("broken"); });
  EXPECT_THROW(broken.get(), Error);
}

TEST(Rng, GivesTheSameNumbersEverywhere) {
  // The first outputs of SplitMix64 seeded with 0, as its authors publish them.
  Rng rng(0);
  EXPECT_EQ(rng.bits(), 0xE220A8397B1DCDAFull);
  EXPECT_EQ(rng.bits(), 0x6E789E6AA1B965F4ull);
  EXPECT_EQ(rng.bits(), 0x06C45D188009454Full);
  EXPECT_NE(Rng(1, 2).bits(), Rng(2, 1).bits());
  EXPECT_EQ(Rng(1, 2).bits(), Rng(1, 2).bits());
}

TEST(Rng, IsUniformAndNormal) {
  Rng rng(3);
  double sum = 0, squares = 0;
  std::vector<int> counts(10);
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[static_cast<size_t>(rng.below(10))];
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 10, 400);
  EXPECT_NEAR(sum / kDraws, 0, 0.015);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
}

TEST(Progress, FormatsDurations) {
  EXPECT_EQ(format_duration(75), "1:15");
  EXPECT_EQ(format_duration(4000.4), "1:06:40");
  EXPECT_EQ(format_duration(-3), "0:00");
}

TEST(Memory, IsMeasured) {
  EXPECT_GT(resident_memory_mb(), 1);
  EXPECT_GE(peak_memory_mb(), resident_memory_mb() * 0.9);
  EXPECT_GE(available_cores(), 1);
}

}  // namespace
}  // namespace crisp
