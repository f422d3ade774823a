#include "crisp/flow/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

#include "crisp/base/memory.h"
#include "crisp/base/parallel.h"
#include "crisp/base/random.h"
#include "crisp/flow/bench_train.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/foundation.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/cuda.h"
#include "crisp/train/relabel.h"
#include "crisp/train/student.h"

namespace crisp::flow {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kTimedSeconds = 3;

// A picture with structure at several scales: JPEG decoding of noise or of a flat field tells nothing.
image::Image test_picture(int side) {
  image::Image picture(side, side);
  Rng rng(1);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double wave = 64 * std::sin(0.05 * x * (c + 1)) + 48 * std::cos(0.11 * y + c);
        picture.row(y)[3 * x + c] = static_cast<uint8_t>(std::clamp(128 + wave + 12 * rng.normal(), 0.0, 255.0));
      }
    }
  }
  return picture;
}

Timing time(const std::function<void()>& pass, const BenchOptions& options) {
  for (int64_t i = 0; i < options.warmup; ++i) pass();
  std::vector<double> times;
  const auto begin = Clock::now();
  const auto more = [&] {
    if (options.iterations > 0) return static_cast<int64_t>(times.size()) < options.iterations;
    return times.size() < 5 || std::chrono::duration<double>(Clock::now() - begin).count() < kTimedSeconds;
  };
  while (more()) {
    const auto start = Clock::now();
    pass();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  return {.median_ms = at(0.5),
          .p10_ms = at(0.1),
          .p90_ms = at(0.9),
          .images_per_s = 1000.0 * static_cast<double>(options.batch) / at(0.5),
          .iterations = static_cast<int64_t>(times.size())};
}

// A frozen ViT with drawn weights; on the CPU packed in the type asked for.
std::shared_ptr<model::FrozenVit> drawn_vit(const BenchOptions& options) {
  auto vit = std::make_shared<model::FrozenVit>();
  vit->network = model::Vit(model::vit_config(options.arch));
  model::draw_weights(*vit->network);
  vit->network->eval();
  if (options.device.is_cpu()) {
    vit->type = vit->network->pack(options.dtype);
  } else {
    vit->type = options.dtype;
    vit->network->to(vit->type);
  }
  return vit;
}

}  // namespace

BenchReport bench(const BenchOptions& options) {
  model::SegmenterConfig config;
  config.encoder = model::encoder_config(options.arch);
  const int64_t width = options.width > 0 ? options.width : model::default_width(options.arch);
  config.head = model::ablation_row(options.ablation, width, options.classes);
  config.classes = read_classes(std::to_string(options.classes));
  BenchReport report{.dtype = options.dtype};
  const auto peak = [&] {
    return options.device.is_cuda() ? tensor::peak_device_memory_mb(options.device) : peak_memory_mb();
  };
  model::Segmenter network = model::make_segmenter(config);
  const auto vit = config.encoder.vit ? drawn_vit(options) : nullptr;
  if (vit) model::vit_scales(*network->encoder)->stand_on(vit);
  const torch::nn::Module* counted = network.get();
  if (options.encoder_only) counted = network->encoder.get();
  if (options.encoder_only && vit) {
    counted = vit->network.get();
    report.dtype = vit->type;
  }
  for (const torch::Tensor& parameter : counted->parameters()) report.parameters += parameter.numel();
  if (options.train) {
    const int64_t labels = vit ? config.encoder.vit->side / config.encoder.vit->patch * 4 : options.size;
    const StepOptions step{.network = config,
                           .loss = train::student_row(options.ablation, "U4", width, options.classes).loss,
                           .batch = options.batch,
                           .side = options.size,
                           .label_side = labels,
                           .dtype = options.dtype,
                           .device = options.device};
    report.network = time(training_step(step), options);
    report.peak_memory_mb = peak();
    return report;
  }
  if (options.relabel) {
    network->to(options.device);
    network->eval();
    const torch::Tensor photos = torch::randn({options.batch, 3, options.size, options.size}).to(options.device);
    const auto timed = [&](const std::function<void()>& what) {
      return time(
          [&] {
            const torch::InferenceMode inference;
            const tensor::Autocast mixed(options.device, options.dtype);
            what();
            tensor::synchronise(options.device);
          },
          options);
    };
    report.network = timed([&] { network->forward(photos, {}); });
    report.relabel = timed(
        [&] { train::teacher_views(*network, {photos, {}}, train::RelabelOptions{}.passes, train::TeacherSources{}); });
    report.peak_memory_mb = peak();
    return report;
  }
  infer::Predictor predictor(network, options.device, options.dtype, {.boundary = options.boundary});

  const image::Image picture = test_picture(static_cast<int>(options.size));
  const std::vector<image::Image> pictures(static_cast<size_t>(options.batch), picture);
  const std::string jpeg = image::encode_jpeg(picture, 90);
  const torch::Tensor batch = infer::to_batch(pictures, options.device, options.dtype);

  // A ViT takes images of its parameters' type, which packing leaves alone.
  const torch::Tensor seen = vit ? batch.to(vit->network->pos_embed.scalar_type()) : batch;
  report.network = time(
      [&] {
        const torch::InferenceMode inference;
        if (!options.encoder_only) {
          network->forward(batch, {.boundary = options.boundary});
        } else if (vit) {
          vit->network->forward(seen, {vit->network->config.depth});
        } else {
          network->encoder->forward(seen);
        }
        tensor::synchronise(options.device);
      },
      options);
  const auto jpeg_to_mask = [&] {
    std::vector<image::Image> decoded(static_cast<size_t>(options.batch));
    parallel_for(options.batch, torch::get_num_threads(), [&](int64_t i) {
      decoded[static_cast<size_t>(i)] = image::decode_image(std::as_bytes(std::span(jpeg)), "bench.jpg");
    });
    predictor.run(decoded);
  };
  if (!options.network_only) report.end_to_end = time(jpeg_to_mask, options);
  report.peak_memory_mb = peak();
  return report;
}

}  // namespace crisp::flow
