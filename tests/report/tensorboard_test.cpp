#include "crisp/report/tensorboard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "crisp/base/error.h"
#include "crisp/image/decode.h"
#include "tests/report/markup.h"
#include "tests/support/support.h"

namespace crisp::report {
namespace {

using crisp::test::golden;

TEST(ReportTensorboard, EncodesAsTensorBoardDoes) {
  const std::string png = read_text(golden("goldens/report/tensorboard.png"));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::string long_tag;
  for (int i = 0; i < 60; ++i) long_tag += "long";
  const std::vector<std::string> events = {
      version_event(1700000000.25),
      start_event(1700000000.5, 300),
      scalar_event(1700000001.0, 0, {{"loss", 0}}),
      scalar_event(1700000002.0, 300, {{"loss", 1.25}, {"loss/boundary", -0.1}, {"lr", 6e-5}}),
      scalar_event(1700000003.0, (int64_t{1} << 40) + 1,
                   {{"loss", kInfinity}, {"lr", std::numeric_limits<double>::quiet_NaN()}}),
      image_event(1700000004.125, 300, "samples/Käse 猫", 3, 2, png),
      scalar_event(1700000005.0, -1, {{long_tag, 3}})};
  std::string file;
  for (const std::string& event : events) file += tf_record(event);
  EXPECT_EQ(file, read_text(golden("goldens/report/tensorboard.tfevents")));
}

TEST(ReportTensorboard, WritesEventsAtOnceAndInOrder) {
  const TemporaryFolder folder;
  double now = 1700000000;
  EventWriter writer(folder.path() / "events", 0, [&] { return now; });
  EXPECT_EQ(writer.path(), folder.path() / "events" / "events.out.tfevents.1700000000.crispformer");
  std::string expected = tf_record(version_event(now)) + tf_record(start_event(now, 0));
  EXPECT_EQ(read_text(writer.path()), expected);
  now += 2.5;
  writer.scalars(7, {{"loss", 2}, {"lr", 0.5}});
  expected += tf_record(scalar_event(now, 7, {{"loss", 2}, {"lr", 0.5}}));
  EXPECT_EQ(read_text(writer.path()), expected);
  image::Image picture(3, 2);
  for (size_t i = 0; i < picture.rgb.size(); ++i) picture.rgb[i] = static_cast<uint8_t>(i);
  writer.image(7, "samples/one", picture);
  const std::string whole = read_text(writer.path());
  ASSERT_GT(whole.size(), expected.size());
  EXPECT_TRUE(whole.starts_with(expected));
  // The PNG ends the message, which a checksum of 4 bytes follows.
  const std::string png = whole.substr(whole.find("\x89PNG"), whole.size() - 4 - whole.find("\x89PNG"));
  EXPECT_EQ(image::decode_image(std::as_bytes(std::span(png)), "png").rgb, picture.rgb);
}

TEST(ReportTensorboard, FilesSortInTheOrderOfTheStarts) {
  const TemporaryFolder folder;
  std::vector<std::string> names;
  // Two starts within a second, then a clock that went back, then one that moved on.
  for (const double start : {1700000000.9, 1700000000.95, 1600000000.0, 1700000009.0}) {
    names.push_back(EventWriter(folder.path() / "", 0, [&] { return start; }).path().filename().string());
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(names[1], "events.out.tfevents.1700000001.crispformer");
  EXPECT_EQ(names[2], "events.out.tfevents.1700000002.crispformer");
  EXPECT_EQ(names[3], "events.out.tfevents.1700000009.crispformer");
  EXPECT_EQ(list_files(folder.path(), {}).size(), 4u);
}

TEST(ReportTensorboard, SaysWhatCannotBeWritten) {
  const TemporaryFolder folder;
  write_atomic(folder.path() / "file", "");
  const std::string message = crisp::test::error_of([&] { EventWriter(folder.path() / "file", 0); });
  EXPECT_TRUE(test::has(message, "file: cannot create this folder")) << message;
}

}  // namespace
}  // namespace crisp::report
