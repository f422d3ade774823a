#include "crisp/seed/similarity.h"

#include <cmath>

#include "crisp/base/error.h"

namespace crisp::seed {
namespace {

// Columns of unit length [C, cells]; `centred`: what all cells share is taken off.
torch::Tensor unit_columns(const torch::Tensor& feature, torch::IntArrayRef grid, bool centred) {
  const torch::Tensor map = feature.to(torch::kFloat).unsqueeze(0);
  const bool finer = map.size(2) >= grid[0] && map.size(3) >= grid[1];
  const torch::Tensor on_grid =
      finer ? torch::adaptive_avg_pool2d(map, grid) : torch::upsample_bilinear2d(map, grid, /*align_corners=*/false);
  torch::Tensor columns = on_grid[0].flatten(1);
  if (centred) columns = columns - columns.mean(1, true);
  return columns / (columns.norm(2, 0, true) + 1e-6);
}

}  // namespace

void check(const SimilarityOptions& options) {
  if (!(options.power >= 0 && options.power <= 64)) {
    throw UsageError("--similarity {}: a power between 0 (off) and 64", options.power);
  }
  if (options.rounds < 1 || options.rounds > 64) {
    throw UsageError("--similarity-rounds {}: it lies between 1 and 64", options.rounds);
  }
}

torch::Tensor stretched(const torch::Tensor& maps) {
  const torch::Tensor low = maps.amin({1, 2}, true), high = maps.amax({1, 2}, true);
  return (maps - low) / (high - low + 1e-5);
}

torch::Tensor spread_over_similar(const torch::Tensor& maps, const std::vector<torch::Tensor>& features,
                                  const SimilarityOptions& options) {
  // Coarser where the grid has too many cells: similarities are cells x cells.
  const torch::Tensor& grid = features.at(std::min<size_t>(1, features.size() - 1));
  int64_t rows = grid.size(1), columns = grid.size(2);
  if (rows * columns > options.cells) {
    const double shrink = std::sqrt(static_cast<double>(options.cells) / static_cast<double>(rows * columns));
    rows = std::max<int64_t>(1, std::llround(std::floor(static_cast<double>(rows) * shrink)));
    columns = std::max<int64_t>(1, std::min(columns, options.cells / rows));
  }
  torch::Tensor alike;
  for (const torch::Tensor& feature : features) {
    const torch::Tensor unit = unit_columns(feature, {rows, columns}, options.centred);
    const torch::Tensor cosines = unit.t().matmul(unit);
    alike = alike.defined() ? alike.add_(cosines) : cosines;
  }
  alike.div_(static_cast<double>(features.size())).clamp_min_(0).fill_diagonal_(1).pow_(options.power);
  alike.div_(alike.sum(0, true));  // symmetric before this: column i now holds what i hears

  torch::Tensor spread = torch::adaptive_avg_pool2d(maps.to(torch::kFloat).unsqueeze(0), {rows, columns})[0];
  for (int round = 0; round < options.rounds; ++round) {
    spread = stretched(spread).flatten(1).matmul(alike).view_as(spread);
  }
  return stretched(spread);
}

}  // namespace crisp::seed
