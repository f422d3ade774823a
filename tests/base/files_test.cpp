#include "crisp/base/files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "crisp/base/classes.h"
#include "crisp/base/error.h"
#include "tests/support/support.h"

namespace crisp {
namespace {

using test::error_of;

TEST(Files, AtomicFilesAppearWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "größe 1.txt";
  write_atomic(file, "old");
  {
    AtomicFile unfinished(file);
    unfinished.write("new, but never committed");
    EXPECT_EQ(read_text(file), "old");
  }
  EXPECT_EQ(read_text(file), "old");
  for (const Durable durable : {Durable::kNo, Durable::kYes}) {
    AtomicFile finished(file, durable);
    finished.write("new");
    finished.commit();
    EXPECT_EQ(read_text(file), "new");
  }
  EXPECT_EQ(list_files(folder.path(), {}).size(), 1u) << "no temporary file is left";
}

TEST(Files, ErrorsNameThePathAndTheReason) {
  const TemporaryFolder folder;
  const Path missing = folder.path() / "no" / "file";
  EXPECT_EQ(error_of([&] { read_text(missing); }), missing.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { write_atomic(missing, ""); }),
            missing.string() + ": cannot write: No such file or directory");
  EXPECT_EQ(error_of([&] { MappedFile mapped(missing); }),
            missing.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { read_text(folder.path()); }), folder.path().string() + ": is a folder, a file was expected");
  write_atomic(folder.path() / "file", "");
  EXPECT_NE(error_of([&] { make_folder(folder.path() / "file"); }).find("cannot create this folder"),
            std::string::npos);
  EXPECT_NE(error_of([&] { list_files(missing, {}); }).find("cannot list this folder"), std::string::npos);
}

TEST(Files, MapsAndReadsTheSameBytes) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "bytes";
  std::string bytes(100'000, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  write_atomic(file, bytes);
  const MappedFile mapped(file);
  ASSERT_EQ(mapped.bytes().size(), bytes.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), reinterpret_cast<const char*>(mapped.bytes().data())));
  EXPECT_EQ(read_text(file), bytes);
  write_atomic(folder.path() / "empty", "");
  EXPECT_EQ(MappedFile(folder.path() / "empty").bytes().size(), 0u);
  EXPECT_FALSE(read_text("/proc/self/status").empty()) << "files that claim to have no size";
}

TEST(Files, ListsByExtensionSortedWithoutHiddenOnes) {
  const TemporaryFolder folder;
  make_folder(folder.path() / "b" / "c");
  make_folder(folder.path() / ".hidden");
  for (const char* name : {"b/c/2.JPG", "b/1.png", "a.jpg", "a.txt", ".hidden/x.jpg", ".y.jpg"}) {
    write_atomic(folder.path() / name, "");
  }
  std::vector<std::string> names;
  for (const Path& file : list_files(folder.path(), {".jpg", ".png"})) {
    names.push_back(file.lexically_relative(folder.path()).string());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a.jpg", "b/1.png", "b/c/2.JPG"}));
}

TEST(Classes, AreANumberAWordOrAFile) {
  EXPECT_EQ(read_classes("3"), (ClassNames{"background", "class 1", "class 2"}));
  EXPECT_EQ(read_classes("voc").size(), 21u);
  EXPECT_EQ(read_classes("voc")[15], "person");
  const TemporaryFolder folder;
  const Path file = folder.path() / "classes.txt";
  write_atomic(file, "background\r\npotted plant\n sheep \n");
  EXPECT_EQ(read_classes(file.string()), (ClassNames{"background", "potted plant", "sheep"}));
  write_atomic(file, "background\ncat\n\ndog\n");
  EXPECT_EQ(error_of([&] { read_classes(file.string()); }), file.string() + ": line 3 is empty: one class name a line");
  write_atomic(file, "background\ncat\ncat\n");
  EXPECT_EQ(error_of([&] { read_classes(file.string()); }),
            file.string() + ": class 'cat' stands on line 2 and again on line 3");
  write_atomic(file, "background\n");
  EXPECT_NE(error_of([&] { read_classes(file.string()); }).find("at least two"), std::string::npos);
  EXPECT_THROW(read_classes("1"), UsageError);
  EXPECT_THROW(read_classes("300"), UsageError);
  EXPECT_THROW(read_classes("nowhere.txt"), Error);
}

}  // namespace
}  // namespace crisp
