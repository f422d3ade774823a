#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "crisp/base/random.h"
#include "crisp/base/thread_pool.h"
#include "crisp/data/augment.h"

namespace crisp::data {

struct LoaderOptions {
  int64_t batch = 16;
  int workers = 2;
  uint64_t seed = 0;
  bool shuffle = true;
};

// Batches of examples without end, in an order and with a randomness that depend on the seed alone, not on the
// number of threads: example number p (counted over all epochs) is made with Rng(seed, p), and epoch e visits the
// samples in the order drawn from (seed, e). The position is one number, so a run that goes on finds its place.
// An epoch has floor(count / batch) batches; the samples left over wait for another epoch's order.
//
// A sample that cannot be read is skipped with a warning and counted, and the next one in the data set takes
// its place in the batch; the same happens on every run.
class Loader {
 public:
  // Makes example `index`, with all randomness from `rng`; called from several threads. Throws Error for a sample
  // that cannot be read.
  using Make = std::function<Example(size_t index, Rng& rng)>;

  // `count` at least one; a batch larger than the data set repeats samples.
  Loader(size_t count, Make make, const LoaderOptions& options);
  ~Loader();

  std::vector<Example> next();

  int64_t batches_per_epoch() const { return batches_per_epoch_; }
  int64_t position() const { return position_; }  // batches given out so far
  void seek(int64_t position);                    // the next batch is number `position`

  // Samples that could not be read, each with its reason, in the order they were met.
  const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  struct Made {
    Example example;
    std::vector<std::string> problems;
  };

  void fill_window();
  void drain();  // waits for what is being made and drops it
  size_t sample_at(int64_t epoch, int64_t place);
  Made make_example(int64_t number, size_t index) const;

  const size_t count_;
  const Make make_;
  const LoaderOptions options_;
  const int64_t batches_per_epoch_;
  int64_t position_ = 0, queued_ = 0;  // batches given out, batches whose examples are being made
  int64_t order_epoch_ = -1;
  std::vector<size_t> order_;  // of epoch order_epoch_
  std::vector<std::string> skipped_;
  std::deque<std::vector<std::future<Made>>> window_;
  ThreadPool pool_;  // last: stops before the rest goes
};

// A random order of 0 .. count-1 (Fisher-Yates).
std::vector<size_t> shuffled(size_t count, Rng rng);

}  // namespace crisp::data
