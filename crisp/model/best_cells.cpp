#include "crisp/model/best_cells.h"

namespace crisp::model {

torch::Tensor photo_share(const torch::Tensor& photo, const torch::Tensor& maps) {
  const int64_t h = maps.size(2), w = maps.size(3);
  if (photo.defined()) return torch::adaptive_avg_pool2d(photo.to(torch::kFloat), {h, w});
  return torch::ones({maps.size(0), 1, h, w}, maps.options().dtype(torch::kFloat));
}

torch::Tensor mean_of_best(const torch::Tensor& maps, const torch::Tensor& share, double fraction) {
  const torch::Tensor padding = share < 0.5 * share.amax({2, 3}, true);  // a tiny photo fills no cell
  const torch::Tensor cells = maps.to(torch::kFloat).masked_fill(padding, -1e4).flatten(2);
  const auto count = std::max<int64_t>(1, static_cast<int64_t>(fraction * static_cast<double>(cells.size(2))));
  const torch::Tensor best = std::get<0>(cells.topk(count, 2));
  const torch::Tensor real = best > -5e3;  // a small photo on a large crop may have fewer cells than asked for
  return (best * real).sum(2) / real.sum(2).clamp_min(1);
}

}  // namespace crisp::model
