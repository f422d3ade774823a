#include "crisp/flow/bench_train.h"

#include <memory>

#include "crisp/base/random.h"
#include "crisp/loss/edges.h"
#include "crisp/model/segmenter.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/cuda.h"
#include "crisp/train/adamw.h"
#include "crisp/train/ema.h"
#include "crisp/train/student.h"

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

loss::Targets some_targets(const BenchOptions& options) {
  const int side = static_cast<int>(options.size);
  const torch::Tensor labels = torch::empty({options.batch, side, side}, torch::kByte), band = labels.clone();
  Rng rng(1);
  for (int64_t i = 0; i < options.batch; ++i) {
    image::Mask one = some_labels(side, static_cast<int>(options.classes), rng);
    image::Mask edges = loss::boundary_band(one);
    labels[i].copy_(torch::from_blob(one.labels.data(), {side, side}, torch::kByte));
    band[i].copy_(torch::from_blob(edges.labels.data(), {side, side}, torch::kByte));
  }
  return {.labels = labels.to(options.device), .band = band.to(options.device), .distance = {}};
}

struct Training {
  Training(const BenchOptions& options, const model::SegmenterConfig& config)
      : row(train::student_row(options.ablation, "U4", config.head.width, config.head.classes)),
        student(model::make_segmenter(config)),
        teacher(config),
        targets(some_targets(options)),
        images(torch::randn({options.batch, 3, options.size, options.size}).to(options.device)) {
    student->to(options.device);
    teacher->to(options.device);
    student->train();
    optimizer.emplace(std::vector{train::group_of("student", *student, "", 6e-5, 0.01)});
    ema.emplace(*student, *teacher, 0.999);
    skip = torch::zeros({}, torch::TensorOptions(options.device).dtype(torch::kFloat));
  }

  const train::StudentConfig row;
  model::Segmenter student, teacher;
  const loss::Targets targets;
  const torch::Tensor images;
  torch::Tensor skip;
  std::optional<train::AdamW> optimizer;
  std::optional<train::Ema> ema;
  int64_t steps = 0;
};

}  // namespace

std::function<void()> training_step(const BenchOptions& options, const model::SegmenterConfig& config) {
  return [all = std::make_shared<Training>(options, config), device = options.device, amp = options.dtype] {
    all->optimizer->zero_grad();
    torch::Tensor loss;
    {
      const tensor::Autocast mixed(device, amp);
      const model::Prediction said = all->student->forward(all->images, {.modulate = true, .boundary = true});
      loss = loss::total(
                 {.logits = said.logits, .refined = said.refined, .variance = said.variance, .boundary = said.boundary},
                 all->targets, all->row.loss)
                 .sum;
    }
    loss.backward();
    {
      const torch::NoGradGuard no_grad;
      all->optimizer->clip(5);
      all->optimizer->step(1, all->skip);
      all->ema->update(++all->steps, all->skip);
    }
    tensor::synchronise(device);
  };
}

}  // namespace crisp::flow
