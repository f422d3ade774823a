#include "crisp/data/paste.h"

#include <algorithm>
#include <cmath>

namespace crisp::data {
namespace {

// Rows of a map with `channels` bytes a pixel.
template <typename Map>
void paste_rows(const Map& from, const Box& box, int channels, Map& onto) {
  for (int y = box.top; y < box.top + box.height; ++y) {
    const uint8_t* row = from.row(y) + box.left * channels;
    std::copy(row, row + box.width * channels, onto.row(y) + box.left * channels);
  }
}

}  // namespace

Box random_piece(int width, int height, Rng& rng) {
  const auto side = [&](int whole) { return static_cast<int>(std::lround(rng.uniform(0.3, 0.7) * whole)); };
  Box box{.width = side(width), .height = side(height)};
  box.left = static_cast<int>(rng.below(width - box.width + 1));
  box.top = static_cast<int>(rng.below(height - box.height + 1));
  return box;
}

void paste(const image::Mask& from, const Box& box, image::Mask& onto) { paste_rows(from, box, 1, onto); }

void paste(const Example& from, const Box& box, Example& onto) {
  paste_rows(from.image, box, 3, onto.image);
  paste(from.labels, box, onto.labels);
  paste(from.uncertainty, box, onto.uncertainty);
  paste(from.padding, box, onto.padding);
}

}  // namespace crisp::data
