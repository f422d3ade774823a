#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crisp/base/append_file.h"
#include "crisp/base/files.h"
#include "crisp/image/image.h"

namespace crisp::report {

using Scalars = std::vector<std::pair<std::string, double>>;  // tag and value

// Writes what TensorBoard shows: an event file, each event a protocol buffer in a TFRecord, encoded here.
//
// Each start of a run makes a new file whose name sorts after those that are in the folder, as TensorBoard reads
// them in that order. Its first event says where the run (re)starts: of earlier files only events of steps below
// `first_step` are shown from then on. An event is in the file when its call returns; a disk that is full is an Error.
class EventWriter {
 public:
  using Clock = std::function<double()>;  // seconds since 1970

  // Makes the folder when it is not there.
  EventWriter(const Path& folder, int64_t first_step, Clock clock = {});

  // Numbers are stored as 32-bit floats; NaN and infinity are shown by TensorBoard as such.
  void scalars(int64_t step, const Scalars& values);
  void image(int64_t step, const std::string& name, const image::Image& picture);

  const Path& path() const { return file_.path(); }

 private:
  void write(std::string_view event);

  Clock clock_;
  AppendFile file_;
};

// The encodings, apart from files: bytes of an Event message.
std::string version_event(double wall_time);
std::string start_event(double wall_time, int64_t step);
std::string scalar_event(double wall_time, int64_t step, const Scalars& values);
std::string image_event(double wall_time, int64_t step, const std::string& name, int width, int height,
                        std::string_view png);

// A TFRecord: length, its checksum, the bytes, their checksum; little endian, CRC32C masked as TensorFlow does.
std::string tf_record(std::string_view bytes);

}  // namespace crisp::report
