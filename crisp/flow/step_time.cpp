#include "crisp/flow/step_time.h"

#include <chrono>
#include <cmath>

#include "crisp/base/random.h"
#include "crisp/flow/bench_train.h"
#include "crisp/flow/training_setup.h"
#include "crisp/model/foundation.h"
#include "crisp/model/vit_config.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/cuda.h"
#include "crisp/tensor/device.h"

namespace crisp::flow {
namespace {

constexpr double kCheckedPhotos = 96;  // of a round of relabelling

double fastest(const std::function<void()>& work, torch::Device device) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {  // the first warms up
    const auto start = std::chrono::steady_clock::now();
    work();
    tensor::synchronise(device);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i > 0) best = std::min(best, seconds);
  }
  return best;
}

double seconds_of(const std::function<torch::Tensor()>& loss, torch::Device device) {
  return fastest([&] { loss().backward(); }, device);
}

torch::Tensor pixels(int64_t batch, int crop, torch::Device device) {
  return torch::randn({batch, 3, crop, crop}, torch::TensorOptions(device));
}

// Of one photo of random pixels with three labels, by one thread.
double seconds_to_refine(seed::RefineOptions how, int side) {
  std::erase(how.chain, seed::Refinement::kAffinity);  // has a network of its own
  if (how.chain.empty()) return 0;
  Rng rng(1);
  image::Image photo(side, side);
  for (uint8_t& value : photo.rgb) value = static_cast<uint8_t>(rng.below(256));
  seed::Posterior p{
      side, side, {0, 1, 2}, std::vector<float>(3 * static_cast<size_t>(side) * static_cast<size_t>(side))};
  for (float& value : p.probabilities) value = static_cast<float>(rng.uniform(0.1, 1));
  seed::normalise(p);
  return fastest([&] { seed::refine(photo, {}, how, p); }, torch::kCPU);
}

}  // namespace

StepTimes measure_step_times(const PipelineOptions& options, const ClassNames& classes, int typical_side,
                             torch::Device device) {
  const torch::ScalarType amp = tensor::parse_dtype(options.student.trainer.amp);
  const auto& vit = model::encoder_config(options.student.arch).vit;
  const auto tokens = [&](int64_t batch) {  // as a cache has them
    if (!vit) return torch::Tensor();
    const int64_t cells = vit->side / vit->patch, dim = model::vit_config(options.student.arch).dim;
    return torch::randn({batch, static_cast<int64_t>(vit->blocks.size()), cells, cells, dim},
                        torch::TensorOptions(device));
  };
  const auto input = [&](int64_t batch, int crop) {
    return pixels(batch, vit ? static_cast<int>(vit->side) : crop, device);
  };
  StepTimes times;
  {
    model::CamClassifierConfig config;
    config.encoder = model::classifier_encoder(options.classifier.arch, options.classifier.stride);
    config.classes = classes;
    model::CamClassifier network(config);
    model::draw_weights(*network);
    network->to(device);
    const int64_t batch = options.classifier.task.batch;
    const torch::Tensor images = input(batch, options.classifier.task.augment.crop), known = tokens(batch);
    times.classifier = seconds_of(
        [&] {
          const tensor::Autocast mixed(device, amp);
          return network->forward(images, {}, known).sum();
        },
        device);
  }
  const StudentOptions& student = options.student;
  times.student = fastest(training_step({.network = segmenter_config(student, classes),
                                         .loss = student.task.loss,
                                         .batch = student.task.batch,
                                         .side = vit ? vit->side : student.task.augment.crop,
                                         .label_side = vit ? student.task.label_side : student.task.augment.crop,
                                         .dtype = amp,
                                         .device = device}),
                          device);
  if (vit) {
    const auto frozen = model::load_foundation(initial_weights(options.classifier.arch, options.classifier.init));
    frozen->network->to(device);
    const torch::NoGradGuard no_grad;
    const torch::Tensor photo = input(1, 0);
    times.features = fastest([&] { frozen->network->forward(photo, vit->blocks); }, device);
  }
  times.refine = seconds_to_refine(options.seeds.seed.refine, typical_side);
  return times;
}

double seconds_of_run(const PipelineOptions& o, const RunSize& size, const StepTimes& one) {
  const auto steps = [&](int64_t epochs, int64_t batch) {
    return static_cast<double>(epochs) * std::max(1.0, std::floor(size.photos / static_cast<double>(batch)));
  };
  const double training = steps(o.classifier.trainer.epochs, o.classifier.task.batch) * one.classifier +
                          steps(o.student.trainer.epochs, o.student.task.batch) * one.student;
  // On MiT seeds, relabelling, validation and measuring together take about as long as half of the training.
  if (one.features == 0) return 1.5 * training;
  const StudentOptions& student = o.student;
  const double refine = one.refine / o.threads;
  // A pass takes about a third of a step's time a photo; maps are spread and files written in some 20 ms a photo.
  const double pass = one.student / static_cast<double>(student.task.batch) / 3, rest = 0.02;
  const train::RelabelOptions& relabel = student.task.relabel;
  const double rounds = student.no_relabel || relabel.from > 1 ? 0 : 1 + std::floor((1 - relabel.from) / relabel.every);
  const double views = relabel.flip ? 2 : 1;
  const double crossfit = 2 * static_cast<double>(o.seeds.crossfit_training.steps) * one.classifier;
  return (size.photos + size.held_out) * one.features + crossfit + training +
         (size.photos + 2 * size.held_out) * (refine + 2 * rest) +
         rounds * size.photos * (static_cast<double>(relabel.passes) / 2 * pass + refine + rest) +
         rounds * views * kCheckedPhotos * (one.features + 2 * pass) + 3 * size.held_out * (pass + rest);
}

}  // namespace crisp::flow
