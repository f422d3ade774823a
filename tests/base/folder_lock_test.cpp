// One process a folder, and Ctrl-C that is remembered.
#include "crisp/base/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "crisp/base/interrupt.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

TEST(FolderLock, KeepsOthersOutAsLongAsItLives) {
  const TemporaryFolder folder;
  const Path inner = folder.path() / "made/for it";
  {
    const FolderLock lock(inner);
    const std::string said = error_of([&] { FolderLock second(inner); });
    EXPECT_NE(said.find(inner.string() + ": another crispformer works in this folder"), std::string::npos) << said;
  }
  EXPECT_EQ(error_of([&] { FolderLock again(inner); }), "no error");
}

TEST(FolderLock, GoesWithAKilledProcess) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_NE(error_of([&] { FolderLock second(folder.path()); }), "no error");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(error_of([&] { FolderLock second(folder.path()); }), "no error");
  close(ready[0]);
  close(ready[1]);
}

TEST(FolderLock, AFileInTheWayIsNamed) {
  const TemporaryFolder folder;
  write_atomic(folder.path() / "file", "x");
  EXPECT_NE(error_of([&] { FolderLock lock(folder.path() / "file"); }).find("file"), std::string::npos);
}

TEST(Interrupt, TheFirstIsRememberedTheSecondEnds) {
  {
    const InterruptGuard guard;
    EXPECT_FALSE(guard.requested());
    std::raise(SIGINT);
    EXPECT_TRUE(guard.requested());
  }
  {
    const InterruptGuard guard;
    EXPECT_FALSE(guard.requested()) << "a new guard starts afresh";
    std::raise(SIGTERM);
    EXPECT_TRUE(guard.requested());
  }
  EXPECT_EXIT(
      {
        const InterruptGuard guard;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace crisp::test
