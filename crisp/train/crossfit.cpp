#include "crisp/train/crossfit.h"

#include "crisp/base/error.h"
#include "crisp/base/progress.h"
#include "crisp/base/random.h"
#include "crisp/train/adamw.h"
#include "crisp/train/schedule.h"

namespace crisp::train {
namespace {

constexpr double kWarmUp = 1.0 / 7;  // of the steps
constexpr int64_t kMostPasses = 40;  // over a half's photos
constexpr size_t kMomentPhotos = 128;

torch::Tensor judged_tokens(feature::Store& store, const std::vector<const GridLabels*>& photos) {
  std::vector<Path> files;
  for (const GridLabels* photo : photos) files.push_back(photo->sample->image);
  return store.tokens(files).select(1, seed::kJudgedBlock);
}

void standardise(model::TokenHead& head, feature::Store& store, const std::vector<const GridLabels*>& photos) {
  const size_t step = std::max<size_t>(1, photos.size() / kMomentPhotos);
  torch::Tensor sum, squares;
  double count = 0;
  for (size_t i = 0; i < photos.size(); i += step) {
    const torch::Tensor values = judged_tokens(store, {photos[i]}).flatten(0, 2).to(torch::kDouble);
    sum = sum.defined() ? sum + values.sum(0) : values.sum(0);
    squares = squares.defined() ? squares + values.square().sum(0) : values.square().sum(0);
    count += static_cast<double>(values.size(0));
  }
  const torch::NoGradGuard no_grad;
  const torch::Tensor mean = sum / count;
  head->mean.copy_(mean);
  head->deviation.copy_((squares / count - mean.square()).clamp_min(1e-12).sqrt());
}

}  // namespace

std::optional<model::TokenHead> learn_half(feature::Store& store, const std::vector<GridLabels>& photos, size_t half,
                                           int64_t classes, const CrossfitOptions& options, torch::Device device,
                                           const std::function<bool()>& stop) {
  const int64_t dim = store.vit()->network->config.dim;
  model::TokenHead head(dim, classes);
  const uint64_t seed = derive_seed(options.seed, half);
  torch::manual_seed(seed);
  model::draw_weights(*head);
  std::vector<const GridLabels*> own;
  for (const GridLabels& photo : photos) {
    if (seed::Crossfit::half_of(store.photo_of(photo.sample->image)) != half) continue;
    own.push_back(&photo);
    for (const int tag : photo.sample->tags) head->photos[tag] += 1;
  }
  head->eval();
  if (own.empty()) return head;  // knows no class, so it will not be asked
  standardise(head, store, own);
  head->to(device);
  head->train();
  AdamW optimizer({group_of("crossfit", *head, "", options.rate, options.weight_decay)});
  // Few photos are not learned by heart.
  const auto passes = kMostPasses * static_cast<int64_t>(own.size()) / options.batch;
  const int64_t steps = std::clamp<int64_t>(passes, 1, options.steps);
  Progress progress(fmt::format("crossfit {} of 2", half + 1), steps);
  const torch::Tensor none = torch::zeros({}, torch::TensorOptions().device(device));  // of the steps are left out
  Rng rng(seed);
  for (int64_t step = 0; step < steps; ++step) {
    if (stop && stop()) return std::nullopt;
    std::vector<const GridLabels*> batch;
    std::vector<torch::Tensor> labels;
    for (int64_t i = 0; i < options.batch; ++i) {
      batch.push_back(own[static_cast<size_t>(rng.below(static_cast<int64_t>(own.size())))]);
      labels.push_back(batch.back()->labels);
    }
    torch::manual_seed(derive_seed(seed, static_cast<uint64_t>(step)));  // dropout
    const torch::Tensor logits = head->forward(judged_tokens(store, batch).to(device)).flatten(0, 2);
    const torch::Tensor wanted = torch::stack(labels).flatten().to(device, torch::kLong);
    const torch::Tensor loss = torch::cross_entropy_loss(logits, wanted, {}, at::Reduction::Mean, /*ignore_index=*/255);
    optimizer.zero_grad();
    loss.backward();
    const double rise = std::min(1.0, static_cast<double>(step + 1) / (kWarmUp * static_cast<double>(steps)));
    const double fall = 1 - static_cast<double>(step) / static_cast<double>(steps);
    optimizer.step(rise * fall, none);
    progress.advance();
  }
  progress.finish();
  head->eval();
  return head;
}

}  // namespace crisp::train
