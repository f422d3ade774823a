#include "crisp/infer/tiling.h"

#include <algorithm>

#include "crisp/base/error.h"

namespace crisp::infer {
namespace {

constexpr int64_t kGrid = 4;  // the network's output has one value for 4x4 pixels
constexpr int64_t kSmallestTile = 64;

// Weights along one side of a tile: 1 inside, rising over the overlap where a neighbour lies.
torch::Tensor ramp(int64_t length, int64_t before, int64_t after, const torch::TensorOptions& options) {
  const torch::Tensor at = torch::arange(length, options) + 0.5;
  torch::Tensor weight = torch::ones({length}, options);
  if (before > 0) weight = torch::minimum(weight, at / static_cast<double>(before));
  if (after > 0) weight = torch::minimum(weight, (static_cast<double>(length) - at) / static_cast<double>(after));
  return weight;
}

int64_t grid_cells(int64_t pixels) { return (pixels + kGrid - 1) / kGrid; }

// Cells that tile i shares with its neighbour before and after.
std::pair<int64_t, int64_t> shared_cells(const std::vector<Span>& spans, size_t i) {
  const auto shared = [&](size_t a) { return (spans[a].start + spans[a].length - spans[a + 1].start) / kGrid; };
  return {i > 0 ? shared(i - 1) : 0, i + 1 < spans.size() ? shared(i) : 0};
}

}  // namespace

void check(const TileOptions& options) {
  if (options.tile == 0) return;
  if (options.tile < kSmallestTile)
    throw UsageError("--tile {}: a tile has at least {} pixels", options.tile, kSmallestTile);
  if (options.overlap < 0 || options.overlap >= options.tile) {
    throw UsageError("--overlap {} must be smaller than --tile {}", options.overlap, options.tile);
  }
}

std::vector<Span> tile_spans(int64_t size, const TileOptions& options) {
  if (options.tile == 0 || size <= options.tile) return {{0, size}};
  const int64_t step = std::max(kGrid, (options.tile - options.overlap) / kGrid * kGrid);
  const int64_t last = (size - options.tile) / kGrid * kGrid;
  std::vector<Span> spans;
  for (int64_t start = 0; start < last; start += step) spans.push_back({start, options.tile});
  spans.push_back({last, size - last});
  return spans;
}

model::Prediction run_tiled(const std::function<model::Prediction(const torch::Tensor&)>& network,
                            const torch::Tensor& image, const TileOptions& options) {
  const int64_t height = image.size(2), width = image.size(3);
  const auto rows = tile_spans(height, options), columns = tile_spans(width, options);
  if (rows.size() == 1 && columns.size() == 1) return network(image);

  model::Prediction sum;
  const std::vector<torch::Tensor model::Prediction::*> fields = {
      &model::Prediction::logits,      &model::Prediction::refined,  &model::Prediction::variance,
      &model::Prediction::uncertainty, &model::Prediction::boundary, &model::Prediction::scale_weights,
      &model::Prediction::gate};
  torch::Tensor total;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < columns.size(); ++c) {
      const model::Prediction part =
          network(image.narrow(2, rows[r].start, rows[r].length).narrow(3, columns[c].start, columns[c].length));
      const int64_t h = grid_cells(rows[r].length), w = grid_cells(columns[c].length);
      const int64_t y = rows[r].start / kGrid, x = columns[c].start / kGrid;
      const auto [above, below] = shared_cells(rows, r);
      const auto [left, right] = shared_cells(columns, c);
      const auto f32 = image.options().dtype(torch::kFloat);
      const torch::Tensor weight = ramp(h, above, below, f32).unsqueeze(1) * ramp(w, left, right, f32);
      if (!total.defined()) total = torch::zeros({grid_cells(height), grid_cells(width)}, f32);
      total.narrow(0, y, h).narrow(1, x, w) += weight;
      for (const auto field : fields) {
        const torch::Tensor& map = part.*field;
        if (!map.defined()) continue;
        torch::Tensor& target = sum.*field;
        if (!target.defined()) target = torch::zeros({1, map.size(1), grid_cells(height), grid_cells(width)}, f32);
        target.narrow(2, y, h).narrow(3, x, w) += map.to(torch::kFloat) * weight;
      }
    }
  }
  for (const auto field : fields) {
    if ((sum.*field).defined()) sum.*field /= total;
  }
  return sum;
}

}  // namespace crisp::infer
