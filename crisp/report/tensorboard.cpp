#include "crisp/report/tensorboard.h"

#include <bit>
#include <chrono>

#include "crisp/base/crc32c.h"
#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/image/encode.h"

namespace crisp::report {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

// The few parts of a protocol buffer that events need. A field is its number and kind, then its value; numbers
// that are 0 and texts that are empty are left out, as proto3 does.
class Message {
 public:
  void number(int field, int64_t value) {
    if (value == 0) return;
    key(field, 0);
    varint(static_cast<uint64_t>(value));
  }
  void real(int field, double value) {
    key(field, 1);
    little_endian(std::bit_cast<uint64_t>(value), 8);
  }
  void small_real(int field, float value) {
    key(field, 5);
    little_endian(std::bit_cast<uint32_t>(value), 4);
  }
  void text(int field, std::string_view value) {
    if (!value.empty()) part(field, value);
  }
  void message(int field, const Message& value) { part(field, value.bytes_); }

  std::string take() { return std::move(bytes_); }

  void little_endian(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }

 private:
  void key(int field, int kind) { varint(static_cast<uint64_t>(field << 3 | kind)); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void part(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
  }

  std::string bytes_;
};

// Field numbers of tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session_log {
constexpr int kStatus = 1, kStart = 1;
}
namespace summary {
constexpr int kValue = 1;
namespace value {
constexpr int kTag = 1, kSimpleValue = 2, kImage = 4;
}
namespace image {
constexpr int kHeight = 1, kWidth = 2, kColourSpace = 3, kEncoded = 4, kRgb = 3;
}
}  // namespace summary

Message begin_event(double wall_time, int64_t step) {
  Message message;
  message.real(event::kWallTime, wall_time);
  message.number(event::kStep, step);
  return message;
}

uint32_t masked_checksum(std::string_view bytes) {
  const uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xA282EAD8u;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Two starts within a second, or a clock that was put back, must not bring the files out of order.
Path new_file(const Path& folder, double start) {
  make_folder(folder);
  auto second = static_cast<int64_t>(start);
  for (const Path& path : list_files(folder, {})) {
    const std::string name = path.filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const std::string rest = name.substr(kPrefix.size());
    const auto there = parse_integer(rest.substr(0, rest.find('.')));
    if (there && *there >= second) second = *there + 1;
  }
  return folder / fmt::format("{}{:010}.crispformer", kPrefix, second);
}

}  // namespace

std::string version_event(double wall_time) {
  Message message = begin_event(wall_time, 0);
  message.text(event::kFileVersion, "brain.Event:2");
  return message.take();
}

std::string start_event(double wall_time, int64_t step) {
  Message log;
  log.number(session_log::kStatus, session_log::kStart);
  Message message = begin_event(wall_time, step);
  message.message(event::kSessionLog, log);
  return message.take();
}

std::string scalar_event(double wall_time, int64_t step, const Scalars& values) {
  Message all;
  for (const auto& [name, number] : values) {
    Message value;
    value.text(summary::value::kTag, name);
    value.small_real(summary::value::kSimpleValue, static_cast<float>(number));
    all.message(summary::kValue, value);
  }
  Message message = begin_event(wall_time, step);
  message.message(event::kSummary, all);
  return message.take();
}

std::string image_event(double wall_time, int64_t step, const std::string& name, int width, int height,
                        std::string_view png) {
  Message picture;
  picture.number(summary::image::kHeight, height);
  picture.number(summary::image::kWidth, width);
  picture.number(summary::image::kColourSpace, summary::image::kRgb);
  picture.text(summary::image::kEncoded, png);
  Message value;
  value.text(summary::value::kTag, name);
  value.message(summary::value::kImage, picture);
  Message all;
  all.message(summary::kValue, value);
  Message message = begin_event(wall_time, step);
  message.message(event::kSummary, all);
  return message.take();
}

std::string tf_record(std::string_view bytes) {
  Message header;
  header.little_endian(bytes.size(), 8);
  std::string record = header.take();
  Message sums;
  sums.little_endian(masked_checksum(record), 4);
  record += sums.take();
  record += bytes;
  sums.little_endian(masked_checksum(bytes), 4);
  return record + sums.take();
}

EventWriter::EventWriter(const Path& folder, int64_t first_step, Clock clock)
    : clock_(clock ? std::move(clock) : seconds_now), file_(new_file(folder, clock_()), AppendFile::Existing::kRefuse) {
  write(version_event(clock_()));
  write(start_event(clock_(), first_step));
}

void EventWriter::write(std::string_view event) { file_.append(tf_record(event)); }

void EventWriter::scalars(int64_t step, const Scalars& values) { write(scalar_event(clock_(), step, values)); }

void EventWriter::image(int64_t step, const std::string& name, const image::Image& picture) {
  write(image_event(clock_(), step, name, picture.width, picture.height, image::encode_rgb_png(picture)));
}

}  // namespace crisp::report
