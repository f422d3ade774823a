#include "crisp/metric/edge_map.h"

namespace crisp::metric {

EdgeMap::EdgeMap(const image::Mask& mask, bool frame_counts, int margin)
    : width_(mask.width),
      height_(mask.height),
      margin_(margin),
      stride_(mask.width + 2 * margin),
      cells_(static_cast<size_t>(stride_) * static_cast<size_t>(mask.height + 2 * margin), kNoEdge) {
  const std::vector<uint8_t> outside(static_cast<size_t>(width_), kNoEdge);
  for (int y = 0; y < height_; ++y) {
    const uint8_t* here = mask.row(y);
    // Beyond the frame lies "no class" when the frame counts, else the pixel's own label again.
    const uint8_t* beyond = frame_counts ? outside.data() : here;
    const uint8_t* up = y > 0 ? mask.row(y - 1) : beyond;
    const uint8_t* down = y + 1 < height_ ? mask.row(y + 1) : beyond;
    uint8_t* out = cells_.data() + (y + margin_) * stride_ + margin_;
    const auto mark = [&](int x, uint8_t left, uint8_t right) {
      const uint8_t c = here[x];
      const bool edge = (c != left) | (c != right) | (c != up[x]) | (c != down[x]);
      out[x] = edge ? c : kNoEdge;
    };
    for (int x = 1; x + 1 < width_; ++x) mark(x, here[x - 1], here[x + 1]);
    const int last = width_ - 1;
    mark(0, beyond[0], last > 0 ? here[1] : beyond[0]);
    if (last > 0) mark(last, here[last - 1], beyond[last]);
  }
}

}  // namespace crisp::metric
