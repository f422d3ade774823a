#include "crisp/metric/void_fill.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace crisp::metric {
namespace {

constexpr int kFar = 1 << 29;  // no labelled pixel on that side of the column; its square still fits 64 bits

}  // namespace

// In a column, only the nearest labelled pixel above and the nearest below can be the nearest of all, so a
// void pixel looks at two candidates a column and stops once the columns alone are too far away: the cost
// is the number of void pixels times their distance, small for the thin bands that real masks have.
image::Mask fill_void(const image::Mask& mask, int ignore) {
  const auto is_void = [&](uint8_t label) { return label == ignore; };
  if (std::none_of(mask.labels.begin(), mask.labels.end(), is_void)) return mask;
  if (std::all_of(mask.labels.begin(), mask.labels.end(), is_void)) return mask;

  const int width = mask.width, height = mask.height;
  const size_t w = static_cast<size_t>(width);
  std::vector<int> above(mask.labels.size()), below(mask.labels.size());  // rows up and down to a label
  for (int y = 0; y < height; ++y) {
    const uint8_t* labels = mask.row(y);
    int* here = above.data() + static_cast<size_t>(y) * w;
    for (int x = 0; x < width; ++x) {
      const int before = y > 0 ? here[x - width] + 1 : kFar;
      here[x] = is_void(labels[x]) ? std::min(before, kFar) : 0;
    }
  }
  for (int y = height - 1; y >= 0; --y) {
    const uint8_t* labels = mask.row(y);
    int* here = below.data() + static_cast<size_t>(y) * w;
    for (int x = 0; x < width; ++x) {
      const int before = y + 1 < height ? here[x + width] + 1 : kFar;
      here[x] = is_void(labels[x]) ? std::min(before, kFar) : 0;
    }
  }

  image::Mask filled = mask;
  for (int y = 0; y < height; ++y) {
    const uint8_t* labels = mask.row(y);
    const int* up = above.data() + static_cast<size_t>(y) * w;
    const int* down = below.data() + static_cast<size_t>(y) * w;
    for (int x = 0; x < width; ++x) {
      if (!is_void(labels[x])) continue;
      int64_t nearest = std::numeric_limits<int64_t>::max();
      uint8_t label = 255;
      const auto offer = [&](int column, int64_t across) {
        for (const int rows : {-up[column], down[column]}) {
          if (rows <= -kFar || rows >= kFar) continue;
          const int64_t distance = across + static_cast<int64_t>(rows) * rows;
          const uint8_t candidate = mask.row(y + rows)[column];
          if (distance < nearest || (distance == nearest && candidate < label)) nearest = distance, label = candidate;
        }
      };
      for (int k = 0; x - k >= 0 || x + k < width; ++k) {
        const int64_t across = static_cast<int64_t>(k) * k;
        if (across > nearest) break;
        if (x - k >= 0) offer(x - k, across);
        if (x + k < width && k > 0) offer(x + k, across);
      }
      filled.row(y)[x] = label;
    }
  }
  return filled;
}

}  // namespace crisp::metric
