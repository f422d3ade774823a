#pragma once

#include <functional>
#include <vector>

#include "crisp/model/prediction.h"

namespace crisp::infer {

struct TileOptions {
  int64_t tile = 0;     // side in pixels; 0 turns tiling off
  int64_t overlap = 0;  // pixels shared by neighbours
};

// Throws UsageError when the options make no sense (overlap not smaller than the tile, a tile under 64).
void check(const TileOptions& options);

struct Span {
  int64_t start, length;
};

// Tiles along one side of `size` pixels. Starts are multiples of 4, so that tiles lie on the grid of the
// network's output; the last tile ends at `size`.
std::vector<Span> tile_spans(int64_t size, const TileOptions& options);

// Runs `network` over overlapping tiles of one image [1, 3, H, W] and blends their maps with weights that
// fall linearly to zero across each overlap: no seam is left, and one tile gives what no tiling gives.
model::Prediction run_tiled(const std::function<model::Prediction(const torch::Tensor&)>& network,
                            const torch::Tensor& image, const TileOptions& options);

}  // namespace crisp::infer
