#include "crisp/flow/step_time.h"

#include <chrono>

#include "crisp/flow/training_setup.h"
#include "crisp/model/foundation.h"
#include "crisp/model/vit_config.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/cuda.h"
#include "crisp/tensor/device.h"

namespace crisp::flow {
namespace {

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

}  // namespace

StepTimes measure_step_times(const PipelineOptions& options, const ClassNames& classes, torch::Device device) {
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
  model::SegmenterConfig config;
  config.encoder = model::encoder_config(options.student.arch);
  const int64_t width = options.student.width > 0 ? options.student.width : model::default_width(options.student.arch);
  config.head = model::ablation_row(options.student.ablation, width, static_cast<int64_t>(classes.size()));
  config.classes = classes;
  model::Segmenter network = model::make_segmenter(config);
  network->to(device);
  const int64_t batch = options.student.task.batch;
  const torch::Tensor images = input(batch, options.student.task.augment.crop), known = tokens(batch);
  times.student = seconds_of(
      [&] {
        const tensor::Autocast mixed(device, amp);
        const model::Prediction said = network->forward(images, {.boundary = true, .tokens = known});
        return said.refined.to(torch::kFloat).logsumexp(1).mean();
      },
      device);
  if (vit) {
    const auto frozen = model::load_foundation(initial_weights(options.classifier.arch, options.classifier.init));
    frozen->network->to(device);
    const torch::NoGradGuard no_grad;
    const torch::Tensor photo = input(1, 0);
    times.features = fastest([&] { frozen->network->forward(photo, vit->blocks); }, device);
  }
  return times;
}

}  // namespace crisp::flow
