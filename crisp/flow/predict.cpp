#include "crisp/flow/predict.h"

#include <chrono>
#include <deque>
#include <future>
#include <optional>

#include "crisp/base/error.h"
#include "crisp/base/progress.h"
#include "crisp/base/thread_pool.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "crisp/image/heat_map.h"
#include "crisp/image/overlay.h"
#include "crisp/tensor/npy.h"

namespace crisp::flow {
namespace {

using Clock = std::chrono::steady_clock;

struct Decoded {
  size_t index = 0;
  image::Image image;
  std::string problem;  // why there is no image
};

struct Job {
  size_t index = 0;
  image::Image image;
  infer::Result result;
  double network_ms = 0;
};

image::Mask to_bytes(const torch::Tensor& map, int width, int height) {
  torch::Tensor full = map;
  if (map.size(0) != height || map.size(1) != width) {
    full = torch::upsample_bilinear2d(map.unsqueeze(0).unsqueeze(0), {height, width}, false)[0][0];
  }
  const torch::Tensor bytes = (full * 255).round().clamp(0, 255).to(torch::kUInt8).contiguous();
  image::Mask mask(width, height);
  std::copy_n(bytes.const_data_ptr<uint8_t>(), mask.labels.size(), mask.labels.begin());
  return mask;
}

class Writer {
 public:
  explicit Writer(const PredictOptions& options) : options_(options), classes_(options.classes) {}

  ImageReport write(const InputImage& input, const Job& job) const {
    const int width = job.image.width, height = job.image.height;
    const infer::Result& result = job.result;
    if (wanted("mask")) image::write_mask_png(path("mask", input.name, ".png"), result.labels);
    if (wanted("overlay")) {
      image::write_rgb_png(path("overlay", input.name, ".png"), image::overlay(job.image, result.labels, classes_));
    }
    if (wanted("uncertainty")) {
      image::write_rgb_png(path("uncertainty", input.name, ".png"),
                           image::heat_map(to_bytes(result.uncertainty, width, height)));
    }
    if (wanted("boundary")) {
      image::write_grey_png(path("boundary", input.name, ".png"), to_bytes(result.boundary, width, height));
    }
    if (wanted("logits")) {
      tensor::write_npy(path("logits", input.name, ".npy"),
                        result.logits.defined() ? result.logits : result.probabilities);
    }
    ImageReport report{.file = input.file.string(), .name = input.name, .width = width, .height = height};
    std::vector<int64_t> counts(classes_.size());
    for (const uint8_t label : result.labels.labels) ++counts[label];
    const auto pixels = static_cast<double>(result.labels.labels.size());
    for (const int64_t count : counts) report.class_shares.push_back(static_cast<double>(count) / pixels);
    report.mean_uncertainty = result.mean_uncertainty;
    report.mean_entropy = result.mean_entropy;
    report.network_ms = job.network_ms;
    return report;
  }

 private:
  bool wanted(const std::string& what) const { return options_.save.contains(what); }

  Path path(const std::string& kind, const std::string& name, const char* extension) const {
    const Path file = options_.out / kind / (name + extension);
    make_folder(file.parent_path());
    return file;
  }

  const PredictOptions& options_;
  const ClassNames& classes_;
};

Decoded decode(const InputImage& input, size_t index, const image::DecodeLimits& limits) {
  try {
    return {.index = index, .image = image::read_image(input.file, limits), .problem = ""};
  } catch (const Error& error) {
    return {.index = index, .image = {}, .problem = error.what()};
  }
}

}  // namespace

PredictReport predict(infer::Predictor& predictor, const std::vector<InputImage>& images,
                      const PredictOptions& options) {
  make_folder(options.out);
  const auto start = Clock::now();
  const Writer writer(options);
  const size_t window = static_cast<size_t>(2 * options.workers) + static_cast<size_t>(options.batch);
  PredictReport report;
  Progress progress("predict", static_cast<int64_t>(images.size()));
  ThreadPool pool(options.workers);
  std::deque<std::future<Decoded>> reading;
  std::deque<std::future<ImageReport>> writing;
  size_t next = 0;

  const auto finish_one = [&] {
    report.images.push_back(writing.front().get());
    writing.pop_front();
    progress.advance(1, report.images.back().name);
  };
  std::vector<Decoded> group;  // images of one size, in order, waiting for the network
  const auto flush = [&] {
    if (group.empty()) return;
    std::vector<image::Image> batch;
    for (Decoded& item : group) batch.push_back(std::move(item.image));
    const auto begin = Clock::now();
    std::vector<infer::Result> results = predictor.run(batch);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    for (size_t i = 0; i < group.size(); ++i) {
      auto job = std::make_shared<Job>(
          Job{group[i].index, std::move(batch[i]), std::move(results[i]), ms / static_cast<double>(group.size())});
      writing.push_back(pool.submit([&, job] { return writer.write(images[job->index], *job); }));
    }
    group.clear();
    while (writing.size() > window) finish_one();
  };

  while (next < images.size() || !reading.empty()) {
    while (next < images.size() && reading.size() < window) {
      const size_t index = next++;
      reading.push_back(pool.submit([&, index] { return decode(images[index], index, options.limits); }));
    }
    Decoded item = reading.front().get();
    reading.pop_front();
    if (!item.problem.empty()) {
      report.skipped.push_back({images[item.index].file.string(), item.problem});
      progress.advance();
      continue;
    }
    const bool same_size =
        group.empty() || (group[0].image.width == item.image.width && group[0].image.height == item.image.height);
    if (!same_size) flush();
    group.push_back(std::move(item));
    if (static_cast<int64_t>(group.size()) == options.batch) flush();
  }
  flush();
  while (!writing.empty()) finish_one();
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace crisp::flow
