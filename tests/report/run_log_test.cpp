#include "crisp/report/run_log.h"

#include <gtest/gtest.h>

#include <limits>

#include "crisp/base/error.h"
#include "tests/report/markup.h"
#include "tests/support/support.h"

namespace crisp::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

LogRecord record(int64_t step, double loss) { return {step, {{"loss", loss}}}; }

std::vector<int64_t> steps_in(const Path& path) {
  std::vector<int64_t> steps;
  for (const LogRecord& line : read_run_log(path)) steps.push_back(line.step);
  return steps;
}

TEST(ReportRunLog, WritesALineAtOnce) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log.jsonl";
  RunLog log(path);
  EXPECT_EQ(read_text(path), "");
  log.append({20, {{"epoch", int64_t{1}}, {"loss", 0.1}, {"lr", 6e-5}, {"phase", "train \"x\"\n"}, {"bad", kNan}}});
  EXPECT_EQ(read_text(path),
            "{\"step\":20,\"epoch\":1,\"loss\":0.1,\"lr\":6e-05,\"phase\":\"train \\\"x\\\"\\n\",\"bad\":null}\n");
  log.append({21, {{"loss", -std::numeric_limits<double>::infinity()}, {"seconds", 3.0}}});
  EXPECT_TRUE(read_text(path).ends_with("\n{\"step\":21,\"loss\":null,\"seconds\":3.0}\n"));
}

TEST(ReportRunLog, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log.jsonl";
  const double third = 1.0 / 3;
  RunLog(path).append(
      {int64_t{1} << 60,
       {{"loss", third}, {"images", int64_t{-7}}, {"name", "K\xC3\xA4se"}, {"odd", "a\xFF"}, {"bad", kNan}}});
  const std::vector<LogRecord> records = read_run_log(path);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].step, int64_t{1} << 60);
  EXPECT_EQ(records[0].number("loss"), third) << "every bit";
  EXPECT_EQ(records[0].number("images"), -7);
  EXPECT_EQ(records[0].text("name"), "K\xC3\xA4se");
  EXPECT_EQ(records[0].text("odd"), "a\xEF\xBF\xBD");
  EXPECT_EQ(records[0].fields[4].second, LogValue());
  EXPECT_EQ(records[0].number("bad"), std::nullopt);
  EXPECT_EQ(records[0].number("name"), std::nullopt);
  EXPECT_EQ(records[0].text("loss"), std::nullopt);
  EXPECT_EQ(records[0].number("none"), std::nullopt);
}

TEST(ReportRunLog, AResumeDropsLaterSteps) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log.jsonl";
  {
    RunLog log(path);
    for (const int64_t step : {10, 20, 20, 30, 40}) log.append(record(step, 1));
  }
  RunLog log(path);
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{10, 20, 20, 30, 40})) << "opened again, all is there";
  log.truncate_after(20);
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{10, 20, 20}));
  log.append(record(25, 2));
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{10, 20, 20, 25})) << "into the new file, not the replaced one";
  log.truncate_after(-1);
  EXPECT_EQ(read_text(path), "");
  EXPECT_EQ(list_files(folder.path(), {}).size(), 1u) << "nothing is left beside it";
}

TEST(ReportRunLog, ATornLastLineIsNotThere) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log.jsonl";
  const std::string whole = "{\"step\":1,\"loss\":2.5}\n", last = "{\"step\":12,\"loss\":1.25}";
  for (size_t length = 0; length < last.size(); ++length) {
    write_atomic(path, whole + last.substr(0, length), Durable::kNo);
    EXPECT_EQ(steps_in(path), std::vector<int64_t>{1}) << length;
    RunLog(path).append(record(2, 1));
    EXPECT_EQ(read_text(path), whole + "{\"step\":2,\"loss\":1.0}\n") << length;
  }
  // All but the end of the line: nothing is missing.
  write_atomic(path, whole + last, Durable::kNo);
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{1, 12}));
  RunLog(path).append(record(13, 1));
  EXPECT_EQ(steps_in(path), (std::vector<int64_t>{1, 12, 13}));
}

TEST(ReportRunLog, ABrokenLineIsNamed) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "log.jsonl";
  const auto message_for = [&](const std::string& line) {
    write_atomic(path, "{\"step\":1}\n" + line + "\n{\"step\":3}\n", Durable::kNo);
    const std::string message = crisp::test::error_of([&] { read_run_log(path); });
    EXPECT_TRUE(test::has(message, path.string() + " line 2: ")) << message;
    EXPECT_THROW(RunLog{path}, Error) << "nothing is appended to it either";
    return message;
  };
  EXPECT_TRUE(test::has(message_for("{\"step\":2"), "not a JSON object"));
  EXPECT_TRUE(test::has(message_for(""), "not a JSON object"));
  EXPECT_TRUE(test::has(message_for(std::string(3, '\0')), "not a JSON object"));
  EXPECT_TRUE(test::has(message_for("[1, 2]"), "not an object"));
  EXPECT_TRUE(test::has(message_for("{\"loss\":2}"), "it has no 'step'"));
  EXPECT_TRUE(test::has(message_for("{\"step\":2.5}"), "'step' is no whole number"));
  EXPECT_TRUE(test::has(message_for("{\"step\":18446744073709551615}"), "'step' is no whole number"));
  EXPECT_TRUE(test::has(message_for("{\"step\":2,\"loss\":1e999}"), "not a JSON object"));
  EXPECT_TRUE(test::has(message_for("{\"step\":2,\"parts\":{\"ce\":1}}"), "'parts' is neither a number nor a text"));
}

TEST(ReportRunLog, ANameStandsOnceInALine) {
  const TemporaryFolder folder;
  RunLog log(folder.path() / "log.jsonl");
  EXPECT_THROW(log.append({1, {{"loss", 1.0}, {"loss", 2.0}}}), Error);
  EXPECT_THROW(log.append({1, {{"step", 1.0}}}), Error);
  EXPECT_EQ(read_text(folder.path() / "log.jsonl"), "");
}

TEST(ReportRunLog, AMissingFolderIsNamed) {
  const TemporaryFolder folder;
  const std::string writing = crisp::test::error_of([&] { RunLog(folder.path() / "none" / "log.jsonl"); });
  EXPECT_TRUE(test::has(writing, "none/log.jsonl: cannot write")) << writing;
  const std::string reading = crisp::test::error_of([&] { read_run_log(folder.path() / "log.jsonl"); });
  EXPECT_TRUE(test::has(reading, "log.jsonl: cannot open")) << reading;
}

}  // namespace
}  // namespace crisp::report
