#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "crisp/image/image.h"

namespace crisp::metric {

constexpr uint8_t kNoEdge = 255;

// Edge pixels of every class at once: a pixel keeps its label when a 4-neighbour has another one and is
// kNoEdge otherwise (as are pixels of label 255, which is no class). A margin of kNoEdge lies around, so
// that neighbours can be read without asking where the image ends.
class EdgeMap {
 public:
  // `frame_counts`: pixels on the image frame are edges too.
  EdgeMap(const image::Mask& mask, bool frame_counts, int margin);

  int width() const { return width_; }
  int height() const { return height_; }
  ptrdiff_t stride() const { return stride_; }
  const uint8_t* row(int y) const { return cells_.data() + (y + margin_) * stride_ + margin_; }

  // Calls visit(cell) with a pointer to each edge pixel, row by row.
  template <typename Visit>
  void for_each_edge(const Visit& visit) const {
    constexpr uint64_t kNothing = ~uint64_t{0};  // eight times kNoEdge
    for (int y = 0; y < height_; ++y) {
      const uint8_t* cells = row(y);
      int x = 0;
      for (; x + 8 <= width_; x += 8) {
        uint64_t eight;
        std::memcpy(&eight, cells + x, 8);
        if (eight == kNothing) continue;
        for (int i = x; i < x + 8; ++i) {
          if (cells[i] != kNoEdge) visit(cells + i);
        }
      }
      for (; x < width_; ++x) {
        if (cells[x] != kNoEdge) visit(cells + x);
      }
    }
  }

 private:
  int width_, height_, margin_;
  ptrdiff_t stride_;
  std::vector<uint8_t> cells_;
};

}  // namespace crisp::metric
