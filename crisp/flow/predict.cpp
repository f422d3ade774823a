#include "crisp/flow/predict.h"

#include <chrono>

#include "crisp/base/progress.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "crisp/image/heat_map.h"
#include "crisp/image/overlay.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/tensor/npy.h"

namespace crisp::flow {
namespace {

using Clock = std::chrono::steady_clock;

struct Predicted {
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

  ImageReport write(const InputImage& input, const image::Image& photo, const Predicted& predicted) const {
    const int width = photo.width, height = photo.height;
    const infer::Result& result = predicted.result;
    if (wanted("mask")) image::write_mask_png(path("mask", input.name, ".png"), result.labels);
    if (wanted("overlay")) {
      image::write_rgb_png(path("overlay", input.name, ".png"), image::overlay(photo, result.labels, classes_));
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
    report.network_ms = predicted.network_ms;
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

}  // namespace

PredictReport predict(infer::Predictor& predictor, const std::vector<InputImage>& images,
                      const PredictOptions& options) {
  make_folder(options.out);
  const auto start = Clock::now();
  const Writer writer(options);
  PredictReport report;
  Progress progress("predict", static_cast<int64_t>(images.size()));
  infer::PhotoStages<Predicted, ImageReport> stages;
  stages.read = [&](size_t index) { return image::read_image(images[index].file, options.limits); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    std::vector<image::Image> batch;
    for (const infer::Photo& photo : group) batch.push_back(photo.image);
    const auto begin = Clock::now();
    std::vector<infer::Result> results = predictor.run(batch);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    std::vector<Predicted> predicted;
    for (infer::Result& result : results) {
      predicted.push_back({std::move(result), ms / static_cast<double>(group.size())});
    }
    return predicted;
  };
  stages.finish = [&](const infer::Photo& photo, Predicted& predicted) {
    return writer.write(images[photo.index], photo.image, predicted);
  };
  stages.done = [&](ImageReport done) {
    report.images.push_back(std::move(done));
    progress.advance(1, report.images.back().name);
  };
  stages.unreadable = [&](size_t index, const std::string& problem) {
    report.skipped.push_back({images[index].file.string(), problem});
    progress.advance();
  };
  infer::stream_photos(images.size(), {.workers = options.workers, .batch = options.batch, .stop = {}}, stages);
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace crisp::flow
