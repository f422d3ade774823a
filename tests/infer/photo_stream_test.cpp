// Photos through decoding, network and finishing: order, groups, what cannot be read, stopping, exceptions.
#include "crisp/infer/photo_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

namespace crisp::infer {
namespace {

// Photo i has a width that changes every `run` photos; its result is its index.
struct Machine {
  int run = 3;
  std::set<size_t> broken;
  std::vector<std::vector<size_t>> groups;
  std::vector<size_t> done;
  std::vector<std::pair<size_t, std::string>> unreadable;
  std::atomic<int> alive{0}, most_alive{0};

  PhotoStages<size_t, size_t> stages() {
    PhotoStages<size_t, size_t> s;
    s.read = [this](size_t index) {
      if (broken.contains(index)) throw Error("photo {} is broken", index);
      const int now = ++alive;
      int seen = most_alive;
      while (now > seen && !most_alive.compare_exchange_weak(seen, now)) {
      }
      return image::Image(1 + static_cast<int>(index) / run, 2);
    };
    s.network = [this](const std::vector<Photo>& group) {
      std::vector<size_t> members;
      for (const Photo& photo : group) {
        EXPECT_EQ(photo.image.width, group[0].image.width);
        members.push_back(photo.index);
      }
      groups.push_back(members);
      return members;
    };
    s.finish = [](const Photo& photo, size_t& result) {
      EXPECT_EQ(photo.index, result);
      return result;
    };
    s.done = [this](size_t result) {
      --alive;
      done.push_back(result);
    };
    s.unreadable = [this](size_t index, const std::string& problem) { unreadable.emplace_back(index, problem); };
    return s;
  }
};

TEST(PhotoStream, KeepsTheOrderAndGroupsNeighboursOfOneSize) {
  for (const int workers : {1, 3}) {
    Machine machine;
    stream_photos(8, {.workers = workers, .batch = 2}, machine.stages());
    EXPECT_EQ(machine.groups, (std::vector<std::vector<size_t>>{{0, 1}, {2}, {3, 4}, {5}, {6, 7}}));
    EXPECT_EQ(machine.done, (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

TEST(PhotoStream, WhatCannotBeReadIsReportedAndTheRestGoesOn) {
  Machine machine;
  machine.broken = {0, 4, 7};
  stream_photos(8, {.workers = 2, .batch = 3}, machine.stages());
  EXPECT_EQ(machine.done, (std::vector<size_t>{1, 2, 3, 5, 6}));
  ASSERT_EQ(machine.unreadable.size(), 3u);
  EXPECT_EQ(machine.unreadable[1].second, "photo 4 is broken");
}

TEST(PhotoStream, MemoryDoesNotGrowWithTheNumberOfPhotos) {
  Machine machine;
  machine.run = 1000;
  stream_photos(400, {.workers = 2, .batch = 4}, machine.stages());
  EXPECT_EQ(machine.done.size(), 400u);
  EXPECT_LE(machine.most_alive, 3 * (2 * 2 + 4));
}

TEST(PhotoStream, StoppedItFinishesWhatWasBegun) {
  Machine machine;
  machine.run = 1000;
  int asked = 0;
  stream_photos(100, {.workers = 1, .batch = 1, .stop = [&] { return ++asked > 5; }}, machine.stages());
  EXPECT_GE(machine.done.size(), 5u);
  EXPECT_LT(machine.done.size(), 20u);
  for (size_t i = 0; i < machine.done.size(); ++i) EXPECT_EQ(machine.done[i], i);
  Machine nothing;
  stream_photos(0, {}, nothing.stages());
  stream_photos(5, {.stop = [] { return true; }}, nothing.stages());
  EXPECT_TRUE(nothing.done.empty());
}

TEST(PhotoStream, AnExceptionOfAnyStageComesOut) {
  for (const int stage : {0, 1, 2}) {
    Machine machine;
    auto stages = machine.stages();
    if (stage == 0) stages.network = [](const std::vector<Photo>&) -> std::vector<size_t> { throw Error("network"); };
    if (stage == 1) stages.finish = [](const Photo&, size_t&) -> size_t { throw Error("finish"); };
    if (stage == 2) stages.done = [](size_t) { throw Error("done"); };
    EXPECT_THROW(stream_photos(50, {.workers = 2, .batch = 2}, stages), Error) << stage;
  }
}

}  // namespace
}  // namespace crisp::infer
