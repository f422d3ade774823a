// Images a second of the training loader, beside a loop that only decodes and resizes to the crop's size, with as
// many threads. VOC photos (long side 320 pixels) where they are beside the project, else rendered scenes.
//   bench_loader --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
// The argument is the crop's side. Compare medians of one run: the rows are measured in turns. Where other programs
// run, compare the CPU time (of all threads).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

#include "crisp/base/error.h"
#include "crisp/base/memory.h"
#include "crisp/base/parallel.h"
#include "crisp/data/dataset.h"
#include "crisp/data/loader.h"
#include "crisp/data/synth.h"
#include "crisp/image/decode.h"
#include "crisp/image/resize.h"

namespace crisp::data {
namespace {

constexpr int64_t kBatch = 16, kBatches = 16;

// Photos with masks, the same for every row; unpacked or rendered once.
class Photos {
 public:
  Photos() {
    keep_freed_memory();  // as the commands that train do: batches come and go
    const Path shared = Path(CRISP_SOURCE_DIR) / ".." / "shared" / "data" / "voc12-core.tar";
    Path root = folder_.path();
    if (std::filesystem::exists(shared)) {
      const std::string line = fmt::format("tar xf '{}' -C '{}'", shared.string(), root.string());
      if (std::system(line.c_str()) != 0) throw Error("{}: cannot be unpacked", shared.string());
      root /= "VOC2012";
    } else {
      render_dataset({.images = 320, .size = 320}, root, available_cores());
    }
    dataset_ = open_dataset(root);
    samples_ = dataset_.samples("train");
  }

  size_t count() const { return samples_.size(); }
  image::Image photo(size_t index) const { return image::read_image(samples_[index].image); }
  image::Mask mask(size_t index) const { return dataset_.read_mask(samples_[index]); }

 private:
  TemporaryFolder folder_;
  Dataset dataset_;
  std::vector<Sample> samples_;
};

const Photos& photos() {
  static const Photos made;
  return made;
}

void decode_and_resize(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  const Photos& from = photos();
  size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    parallel_for(kBatch * kBatches, available_cores(), [&](int64_t i) {
      const size_t index = (next + static_cast<size_t>(i)) % from.count();
      benchmark::DoNotOptimize(image::resize(from.photo(index), side, side));
    });
    next += static_cast<size_t>(kBatch * kBatches);
  }
  state.SetItemsProcessed(state.iterations() * kBatch * kBatches);
}

enum class Load { kScaleCropFlip, kEverything, kEverythingAndLabels };

void loader(benchmark::State& state, Load load) {
  AugmentOptions augmentation{.crop = static_cast<int>(state.range(0))};
  if (load == Load::kScaleCropFlip) augmentation.jitter = augmentation.blur = augmentation.grey = 0;
  const Photos& from = photos();
  const auto make = [&](size_t index, Rng& rng) {
    Example example{.image = from.photo(index)};
    if (load == Load::kEverythingAndLabels) example.labels = from.mask(index);
    return augment(std::move(example), augmentation, rng);
  };
  Loader batches(from.count(), make, {.batch = kBatch, .workers = available_cores()});
  batches.next();  // from here on, as many examples are begun as are given out
  for ([[maybe_unused]] auto _ : state) {
    for (int64_t i = 0; i < kBatches; ++i) benchmark::DoNotOptimize(batches.next());
  }
  state.SetItemsProcessed(state.iterations() * kBatch * kBatches);
}

void crops(benchmark::internal::Benchmark* rows) {
  rows->Arg(256)->Arg(384)->Arg(512)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(decode_and_resize)->Apply(crops);
BENCHMARK_CAPTURE(loader, scale_crop_flip, Load::kScaleCropFlip)->Apply(crops);
BENCHMARK_CAPTURE(loader, everything, Load::kEverything)->Apply(crops);
BENCHMARK_CAPTURE(loader, everything_and_labels, Load::kEverythingAndLabels)->Apply(crops);

}  // namespace
}  // namespace crisp::data
