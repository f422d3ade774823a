#include "crisp/data/loader.h"

#include <algorithm>
#include <numeric>

#include "crisp/base/error.h"
#include "crisp/base/log.h"

namespace crisp::data {
namespace {

constexpr uint64_t kOrderStream = 0x6F72646572;  // keeps the orders' seeds apart from the examples'

}  // namespace

std::vector<size_t> shuffled(size_t count, Rng rng) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
  return order;
}

Loader::Loader(size_t count, Make make, const LoaderOptions& options)
    : count_(count),
      make_(std::move(make)),
      options_(options),
      batches_per_epoch_(std::max<int64_t>(1, static_cast<int64_t>(count) / options.batch)),
      pool_(std::max(1, options.workers)) {
  if (count_ == 0) throw Error("no sample to load");
}

Loader::~Loader() { drain(); }

void Loader::drain() {
  for (auto& batch : window_) {
    for (auto& example : batch) {
      if (example.valid()) example.wait();  // one that was taken has no state any more
    }
  }
  window_.clear();
}

size_t Loader::sample_at(int64_t epoch, int64_t place) {
  if (order_epoch_ != epoch) {
    order_ = options_.shuffle
                 ? shuffled(count_, Rng(derive_seed(options_.seed, kOrderStream), static_cast<uint64_t>(epoch)))
                 : shuffled(0, Rng(0));
    order_epoch_ = epoch;
  }
  const size_t at = static_cast<size_t>(place) % count_;
  return options_.shuffle ? order_[at] : at;
}

Loader::Made Loader::make_example(int64_t number, size_t index) const {
  Made made;
  for (size_t tries = 0; tries < count_; ++tries) {
    Rng rng(options_.seed, static_cast<uint64_t>(number));
    try {
      made.example = make_((index + tries) % count_, rng);
      return made;
    } catch (const Error& error) {
      made.problems.emplace_back(error.what());
    }
  }
  throw Error("not one of {} samples can be read; the first says: {}", count_, made.problems.front());
}

void Loader::fill_window() {
  const int64_t ahead = 2 + (2 * options_.workers + options_.batch - 1) / options_.batch;
  while (queued_ < position_ + ahead) {
    const int64_t epoch = queued_ / batches_per_epoch_, first = queued_ % batches_per_epoch_ * options_.batch;
    std::vector<std::future<Made>> batch;
    for (int64_t i = 0; i < options_.batch; ++i) {
      const int64_t number = queued_ * options_.batch + i;
      const size_t index = sample_at(epoch, first + i);
      batch.push_back(pool_.submit([this, number, index] { return make_example(number, index); }));
    }
    window_.push_back(std::move(batch));
    ++queued_;
  }
}

std::vector<Example> Loader::next() {
  fill_window();
  std::vector<Example> examples;
  for (auto& future : window_.front()) {
    Made made = future.get();
    for (const std::string& problem : made.problems) {
      if (std::find(skipped_.begin(), skipped_.end(), problem) != skipped_.end()) continue;
      log_warning("skipped {}", problem);
      skipped_.push_back(problem);
    }
    examples.push_back(std::move(made.example));
  }
  window_.pop_front();
  ++position_;
  fill_window();
  return examples;
}

void Loader::seek(int64_t position) {
  drain();
  position_ = queued_ = position;
}

}  // namespace crisp::data
