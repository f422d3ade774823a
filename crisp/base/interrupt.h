#pragma once

namespace crisp {

// While it lives, Ctrl-C (and SIGTERM) does not end the process but is remembered, so that long work can finish its
// step and save; a second Ctrl-C ends it at once. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool requested() const;
};

}  // namespace crisp
