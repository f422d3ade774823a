#include "crisp/flow/bench_train.h"

#include <memory>

#include "crisp/base/random.h"
#include "crisp/loss/edges.h"
#include "crisp/model/segmenter.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/cuda.h"
#include "crisp/train/adamw.h"
#include "crisp/train/ema.h"

namespace crisp::flow {
namespace {

// Rectangles of random classes on background: labels with edges, like those of photos.
image::Mask some_labels(int side, int classes, Rng& rng) {
  image::Mask labels(side, side);
  for (int k = 0; k < 4; ++k) {
    const int x0 = static_cast<int>(rng.below(side)), y0 = static_cast<int>(rng.below(side));
    const int x1 = std::min(side, x0 + side / 3), y1 = std::min(side, y0 + side / 3);
    const auto label = static_cast<uint8_t>(1 + rng.below(classes - 1));
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) labels.labels[static_cast<size_t>(y * side + x)] = label;
    }
  }
  return labels;
}

loss::Targets some_targets(const StepOptions& options) {
  const int side = static_cast<int>(options.label_side);
  const int64_t classes = options.network.head.classes;
  const torch::Tensor labels = torch::empty({options.batch, side, side}, torch::kByte), band = labels.clone();
  const torch::Tensor distance = torch::empty(labels.sizes(), torch::kFloat);
  Rng rng(1);
  for (int64_t i = 0; i < options.batch; ++i) {
    image::Mask one = some_labels(side, static_cast<int>(classes), rng);
    image::Mask edges = loss::boundary_band(one);
    std::vector<float> far = loss::edge_distance(one);
    labels[i].copy_(torch::from_blob(one.labels.data(), {side, side}, torch::kByte));
    band[i].copy_(torch::from_blob(edges.labels.data(), {side, side}, torch::kByte));
    distance[i].copy_(torch::from_blob(far.data(), {side, side}, torch::kFloat));
  }
  const auto there = [&](const torch::Tensor& target) { return target.to(options.device); };
  return {.labels = there(labels), .band = there(band), .distance = there(distance)};
}

// As a cache has them; undefined on other encoders.
torch::Tensor some_tokens(const StepOptions& options) {
  const model::EncoderConfig& encoder = options.network.encoder;
  if (!encoder.vit) return {};
  const int64_t cells = encoder.vit->side / encoder.vit->patch;
  return torch::randn({options.batch, static_cast<int64_t>(encoder.vit->blocks.size()), cells, cells, encoder.dims[3]})
      .to(options.device);
}

struct Training {
  explicit Training(const StepOptions& given)
      : options(given),
        student(model::make_segmenter(given.network)),
        teacher(given.network),
        targets(some_targets(given)),
        images(torch::randn({given.batch, 3, given.side, given.side}).to(given.device)),
        tokens(some_tokens(given)) {
    student->to(options.device);
    teacher->to(options.device);
    student->train();
    optimizer.emplace(std::vector{train::group_of("student", *student, "", 6e-5, 0.01)});
    ema.emplace(*student, *teacher, 0.999);
    skip = torch::zeros({}, torch::TensorOptions(options.device).dtype(torch::kFloat));
  }

  const StepOptions options;
  model::Segmenter student, teacher;
  const loss::Targets targets;
  const torch::Tensor images, tokens;
  torch::Tensor skip;
  std::optional<train::AdamW> optimizer;
  std::optional<train::Ema> ema;
  int64_t steps = 0;
};

}  // namespace

std::function<void()> training_step(const StepOptions& options) {
  return [all = std::make_shared<Training>(options)] {
    all->optimizer->zero_grad();
    torch::Tensor loss;
    {
      const tensor::Autocast mixed(all->options.device, all->options.dtype);
      const model::Prediction said =
          all->student->forward(all->images, {.modulate = true, .boundary = true, .tokens = all->tokens});
      loss = loss::total(
                 {.logits = said.logits, .refined = said.refined, .variance = said.variance, .boundary = said.boundary},
                 all->targets, all->options.loss)
                 .sum;
    }
    loss.backward();
    {
      const torch::NoGradGuard no_grad;
      all->optimizer->clip(5);
      all->optimizer->step(1, all->skip);
      all->ema->update(++all->steps, all->skip);
    }
    tensor::synchronise(all->options.device);
  };
}

}  // namespace crisp::flow
