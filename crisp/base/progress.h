#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace crisp {

// A progress line on stderr with count, rate and ETA. On a terminal it redraws in place, a few times a
// second; elsewhere (a log file) it prints a plain line now and then. Silent under --quiet.
class Progress {
 public:
  Progress(std::string label, int64_t total, std::string unit = "images");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Safe from any thread. `note` is shown at the end of the line (losses, a file name).
  void advance(int64_t count = 1, const std::string& note = "");
  void finish();

  // Wipes the redrawn line so that a log message can be printed in its place.
  static void clear_line();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(bool last);

  const std::string label_, unit_;
  const int64_t total_;
  int64_t done_ = 0;
  std::string note_;
  bool finished_ = false;
  Clock::time_point start_, drawn_;
  std::mutex mutex_;
};

// 75 -> "1:15", 4000 -> "1:06:40".
std::string format_duration(double seconds);

}  // namespace crisp
