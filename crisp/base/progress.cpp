#include "crisp/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <utility>

#include "crisp/base/log.h"

namespace crisp {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::chrono::seconds kPlainLine{15};
constexpr int kBarWidth = 24;

bool is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

// Whether a line without its newline stands on the terminal.
std::atomic<bool> line_open{false};

}  // namespace

std::string format_duration(double seconds) {
  const auto total = static_cast<int64_t>(std::max(0.0, seconds) + 0.5);
  const int64_t hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest) : fmt::format("{}:{:02}", minutes, rest);
}

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(std::move(label)), unit_(std::move(unit)), total_(total), start_(Clock::now()), drawn_(start_) {}

Progress::~Progress() {
  if (std::uncaught_exceptions() == 0) finish();  // an error is about to be told: no last line before it
}

void Progress::advance(int64_t count, const std::string& note) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  note_ = note;
  const auto wait = is_terminal() ? Clock::duration(kRedraw) : Clock::duration(kPlainLine);
  if (Clock::now() - drawn_ >= wait) draw(false);
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(finished_, true)) return;
  draw(true);
}

void Progress::clear_line() {
  if (line_open.exchange(false)) std::fputs("\r\033[K", stderr);
}

void Progress::draw(bool last) {
  if (log_level() != LogLevel::kInfo) return;
  drawn_ = Clock::now();
  const double elapsed = std::chrono::duration<double>(drawn_ - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  const std::string when = last ? fmt::format("in {}", format_duration(elapsed))
                           : rate > 0
                               ? fmt::format("ETA {}", format_duration(static_cast<double>(total_ - done_) / rate))
                               : "ETA ?";
  const std::string tail = note_.empty() ? "" : "  " + note_;
  const std::string text = fmt::format("{}/{} {}  {:.1f}/s  {}{}", done_, total_, unit_, rate, when, tail);
  if (!is_terminal()) {
    fmt::print(stderr, "{}: {}\n", label_, text);
    return;
  }
  const int filled = std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\033[K{} {} {}{}", label_, bar, text, last ? "\n" : "");
  std::fflush(stderr);
  line_open = !last;
}

}  // namespace crisp
