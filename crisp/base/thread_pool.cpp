#include "crisp/base/thread_pool.h"

#include <limits>

namespace crisp {

ThreadPool::ThreadPool(int threads) : tasks_(std::numeric_limits<size_t>::max()) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] {
      while (auto task = tasks_.pop()) (*task)();
    });
  }
}

}  // namespace crisp
