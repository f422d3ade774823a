// Time to evaluate a folder of masks against perturbed copies of themselves, beside the time to decode them.
//   bench_metrics [FOLDER]     FOLDER holds PNG masks; default: VOC val_dev beside the project, unpacked
// Time is wall time, and CPU time of all threads, which other work on the machine disturbs less.
// Masks are perturbed and held in memory before the clock runs; bench/peers/metrics.py does the same.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "crisp/base/parallel.h"
#include "crisp/base/text.h"
#include "crisp/image/decode.h"
#include "crisp/metric/accumulator.h"
#include "crisp/metric/compare.h"
#include "crisp/metric/score_image.h"
#include "tests/metric/cases.h"

namespace {

using crisp::Path;
using namespace crisp::metric;

struct Spent {
  double wall_ms = 1e300, cpu_ms = 1e300;
};

template <typename Work>
Spent best_of_three(const Work& work) {
  Spent best;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    work();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    best.wall_ms = std::min(best.wall_ms, wall.count());
    best.cpu_ms = std::min(best.cpu_ms, 1000.0 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  return best;
}

std::vector<Path> val_dev(const Path& unpacked) {
  const Path shared = Path(CRISP_SOURCE_DIR) / ".." / "shared" / "data" / "voc12-core.tar";
  if (!std::filesystem::exists(shared))
    throw crisp::Error("give a folder of PNG masks: {} is not here", shared.string());
  const std::string line = fmt::format("tar xf '{}' -C '{}' VOC2012/SegmentationClass VOC2012/ImageSets",
                                       shared.string(), unpacked.string());
  if (std::system(line.c_str()) != 0) throw crisp::Error("{}: cannot be unpacked", shared.string());
  std::vector<Path> paths;
  const Path root = unpacked / "VOC2012";
  for (const std::string& name : crisp::split_lines(crisp::read_text(root / "ImageSets/Segmentation/val_dev.txt"))) {
    paths.push_back(root / "SegmentationClass" / (name + ".png"));
  }
  return paths;
}

struct Item {
  Path path;
  crisp::image::Mask truth, prediction;
  std::vector<float> confidence;
};

void run(int count, char** arguments) {
  const crisp::TemporaryFolder unpacked;
  std::vector<Item> items;
  for (const Path& path : count > 1 ? crisp::list_files(arguments[1], {".png"}) : val_dev(unpacked.path())) {
    const int index = static_cast<int>(items.size());
    crisp::image::Mask truth = crisp::image::read_mask(path);
    crisp::image::Mask prediction = crisp::test::perturb(truth, index);
    std::vector<float> confidence = crisp::test::confidences(truth, index);
    items.push_back({path, std::move(truth), std::move(prediction), std::move(confidence)});
  }
  const int64_t images = static_cast<int64_t>(items.size());
  Options all, plain;
  plain.boundary = plain.shape = plain.small_objects = false;

  const auto evaluate = [&](const Options& options, bool sure, int threads) {
    std::vector<ImageScores> scores(items.size());
    crisp::parallel_for(images, threads, [&](int64_t i) {
      const Item& item = items[static_cast<size_t>(i)];
      Certainty certainty;
      if (sure) certainty.confidence = item.confidence;
      scores[static_cast<size_t>(i)] =
          score_image(item.path.stem().string(), item.truth, item.prediction, options, certainty);
    });
    Accumulator accumulator(options);
    for (ImageScores& image : scores) accumulator.add(std::move(image));
    return accumulator;
  };
  const auto report = [&](const char* what, const Spent& spent) {
    const double count_of = static_cast<double>(images);
    fmt::print("{:<32} {:>8.1f} ms, {:>7.3f} an image; CPU {:>8.1f} ms, {:>7.3f} an image\n", what, spent.wall_ms,
               spent.wall_ms / count_of, spent.cpu_ms, spent.cpu_ms / count_of);
  };
  fmt::print("{} masks, the best of 3 runs\n", images);
  for (const int threads : {1, crisp::available_cores()}) {
    fmt::print("threads: {}\n", threads);
    report("decode the truth PNGs", best_of_three([&] {
             crisp::parallel_for(images, threads,
                                 [&](int64_t i) { crisp::image::read_mask(items[static_cast<size_t>(i)].path); });
           }));
    report("confusion matrix alone (miou)", best_of_three([&] { evaluate(plain, false, threads); }));
    report("every number", best_of_three([&] { evaluate(all, true, threads); }));
    const Accumulator done = evaluate(all, true, threads);
    report("finish: 1000 bootstrap draws", best_of_three([&] { done.finish(threads); }));
    report("compare: 1000 paired draws", best_of_three([&] { compare(done, done, threads); }));
  }
  const Metrics metrics = evaluate(all, true, crisp::available_cores()).finish();
  for (const HeadlineField& field : kHeadline) {
    if (metrics.*field.value) fmt::print("{} {:.9f}\n", field.name, *(metrics.*field.value));
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(count, arguments);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "bench_metrics: {}\n", problem.what());
    return 1;
  }
}
