#include "crisp/base/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "crisp/base/error.h"
#include "tests/support/support.h"

namespace crisp {
namespace {

TEST(BaseAppendFile, GrowsAndKeepsWhatIsThere) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log";
  write_atomic(path, "one\n");
  AppendFile file(path);
  file.append("two\n");
  EXPECT_EQ(read_text(path), "one\ntwo\n") << "at once, while the file is open";
  AppendFile moved = std::move(file);
  moved.append("three\n");
  EXPECT_EQ(read_text(path), "one\ntwo\nthree\n");
}

TEST(BaseAppendFile, CanRefuseAFileThatIsThere) {
  const TemporaryFolder folder;
  AppendFile(folder.path() / "new", AppendFile::Existing::kRefuse).append("x");
  EXPECT_THROW(AppendFile(folder.path() / "new", AppendFile::Existing::kRefuse), Error);
  EXPECT_EQ(read_text(folder.path() / "new"), "x");
}

TEST(BaseAppendFile, ErrorsNameThePathAndTheReason) {
  const TemporaryFolder folder;
  const std::string missing = test::error_of([&] { AppendFile(folder.path() / "none" / "log"); });
  EXPECT_NE(missing.find("none/log: cannot write: No such file"), std::string::npos) << missing;
  const std::string full = test::error_of([] { AppendFile("/dev/full").append("x"); });
  EXPECT_EQ(full, "/dev/full: cannot write: No space left on device");
}

// A file system that fills up half way through a record.
TEST(BaseAppendFile, AFullDiskLeavesWholeRecords) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log";
  AppendFile file(path);
  file.append(std::string(100, 'a'));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 150;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = test::error_of([&] { file.append(std::string(100, 'b')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_NE(message.find("log: cannot write: File too large"), std::string::npos) << message;
  EXPECT_EQ(read_text(path), std::string(100, 'a'));
  file.append("c");
  EXPECT_EQ(read_text(path), std::string(100, 'a') + "c");
}

}  // namespace
}  // namespace crisp
