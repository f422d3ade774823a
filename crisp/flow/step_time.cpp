#include "crisp/flow/step_time.h"

#include <chrono>

#include "crisp/tensor/autocast.h"
#include "crisp/tensor/cuda.h"
#include "crisp/tensor/device.h"

namespace crisp::flow {
namespace {

double seconds_of(const std::function<torch::Tensor()>& loss, torch::Device device) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {  // the first warms up
    const auto start = std::chrono::steady_clock::now();
    loss().backward();
    tensor::synchronise(device);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i > 0) best = std::min(best, seconds);
  }
  return best;
}

torch::Tensor pixels(int64_t batch, int crop, torch::Device device) {
  return torch::randn({batch, 3, crop, crop}, torch::TensorOptions(device));
}

}  // namespace

StepTimes measure_step_times(const PipelineOptions& options, const ClassNames& classes, torch::Device device) {
  const torch::ScalarType amp = tensor::parse_dtype(options.student.trainer.amp);
  StepTimes times;
  {
    model::CamClassifierConfig config;
    config.encoder = model::classifier_encoder(options.classifier.arch, options.classifier.stride);
    config.classes = classes;
    model::CamClassifier network(config);
    model::draw_weights(*network);
    network->to(device);
    const torch::Tensor images = pixels(options.classifier.task.batch, options.classifier.task.augment.crop, device);
    times.classifier = seconds_of(
        [&] {
          const tensor::Autocast mixed(device, amp);
          return network->forward(images).sum();
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
  const torch::Tensor images = pixels(options.student.task.batch, options.student.task.augment.crop, device);
  times.student = seconds_of(
      [&] {
        const tensor::Autocast mixed(device, amp);
        const model::Prediction said = network->forward(images);
        return said.refined.to(torch::kFloat).logsumexp(1).mean();
      },
      device);
  return times;
}

}  // namespace crisp::flow
