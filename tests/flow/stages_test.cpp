// The stages of a run: skipped when nothing changed, made again from the first change on, over several processes.
#include "crisp/flow/stages.h"

#include <gtest/gtest.h>

#include "tests/support/support.h"

namespace crisp::test {
namespace {

// One process: stages by their configurations; which of them were worked on.
std::string worked(const Path& out, const std::vector<std::pair<std::string, std::string>>& configs,
                   bool whole = true) {
  flow::Stages stages(out);
  std::string done;
  for (const auto& [name, config] : configs) {
    const bool on = stages.run(name, config, {out / name}, [&, which = name] {
      done += which + " ";
      write_atomic(out / which, "made");
      return whole;
    });
    if (!on) break;
  }
  return done;
}

TEST(Stages, WhatIsThereIsLeftAlone) {
  const TemporaryFolder folder;
  const Path out = folder.path();
  const std::string long_text(200, 'x');  // of the kind that strings keep outside themselves
  EXPECT_EQ(worked(out, {{"classify", long_text}, {"seeds", "b"}, {"train", "c"}}), "classify seeds train ");
  EXPECT_EQ(worked(out, {{"classify", long_text}, {"seeds", "b"}, {"train", "c"}}), "");
  EXPECT_EQ(worked(out, {{"classify", long_text}, {"seeds", "other"}, {"train", "c"}}), "seeds train ");
  EXPECT_EQ(worked(out, {{"classify", long_text}, {"seeds", "other"}, {"train", "c"}}), "");
}

TEST(Stages, AStageThatWasEndedEarlyGoesOn) {
  const TemporaryFolder folder;
  const Path out = folder.path();
  EXPECT_EQ(worked(out, {{"classify", "a"}, {"seeds", "b"}}, false), "classify ");
  write_atomic(out / "classify", "half");
  EXPECT_EQ(worked(out, {{"classify", "a"}, {"seeds", "b"}}), "classify seeds ");
  EXPECT_EQ(worked(out, {{"classify", "a"}, {"seeds", "b"}}), "");
}

TEST(Stages, AnotherFoldersAndADamagedOneAreRefused) {
  const TemporaryFolder folder;
  write_atomic(folder.path() / "thesis.doc", "mine");
  const std::string foreign = error_of([&] { flow::Stages stages(folder.path()); });
  EXPECT_NE(foreign.find("not empty, and not the folder of a run (thesis.doc is in it)"), std::string::npos) << foreign;
  write_atomic(folder.path() / "stages.json", R"({"classify": {"config": 3}})");
  const std::string damaged = error_of([&] { flow::Stages stages(folder.path()); });
  EXPECT_NE(damaged.find("stages.json: cannot be read"), std::string::npos) << damaged;
}

}  // namespace
}  // namespace crisp::test
