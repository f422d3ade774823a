#pragma once

#include <functional>
#include <future>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "crisp/base/parallel.h"

namespace crisp {

// A few threads that run submitted tasks in the order they came. The future carries the result or exception.
// Whoever submits keeps a bounded window of futures, so that memory stays flat.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);

  template <typename Task>
  auto submit(Task task) {
    using Result = std::invoke_result_t<Task&>;
    auto packaged = std::make_shared<std::packaged_task<Result()>>(std::move(task));
    auto future = packaged->get_future();
    tasks_.push([packaged] { (*packaged)(); });
    return future;
  }

  ~ThreadPool() { tasks_.close(); }

 private:
  BoundedQueue<std::function<void()>> tasks_;
  std::vector<std::jthread> threads_;  // joined first, while the queue still lives
};

}  // namespace crisp
