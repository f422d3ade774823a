#include "crisp/train/mosaic.h"

namespace crisp::train {

torch::Tensor to_mosaics(const torch::Tensor& tiles) {
  const int64_t n = tiles.size(0) / 4, c = tiles.size(1), h = tiles.size(2), w = tiles.size(3);
  return tiles.reshape({n, 2, 2, c, h, w}).permute({0, 3, 1, 4, 2, 5}).reshape({n, c, 2 * h, 2 * w});
}

torch::Tensor from_mosaics(const torch::Tensor& mosaics) {
  const int64_t n = mosaics.size(0), c = mosaics.size(1), h = mosaics.size(2) / 2, w = mosaics.size(3) / 2;
  return mosaics.reshape({n, c, 2, h, 2, w}).permute({0, 2, 4, 1, 3, 5}).reshape({4 * n, c, h, w});
}

}  // namespace crisp::train
