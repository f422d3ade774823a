#pragma once

#include <vector>

#include "crisp/image/image.h"

namespace crisp::image {

// Bilinear with antialiasing: each new pixel is the mean of the old ones under a triangle as wide as two
// new pixels (two old ones when enlarging), pixels being half-way between grid lines. First along rows,
// then along columns, each rounded to 8 bits: Pillow's BILINEAR to the bit (within 1 where a recent Pillow
// takes columns first), torch's interpolate(antialias=True) within 1/255. Both sizes must be positive.
Image resize(const Image& image, int width, int height);

struct Box {
  int left, top, width, height;
};

// The same from a part of one image into a part of another, without copies of either: `from` becomes what
// resizing it alone would give. Both boxes must lie inside their images.
void resize_into(const Image& image, const Box& from, Image& target, const Box& to);

// The same triangle over one plane of floats (heat maps, probabilities), row by row.
std::vector<float> resize_map(const std::vector<float>& map, int width, int height, int new_width, int new_height);

// Labels: the old pixel under the centre of the new one, floor((x + 0.5) * old / new), as Pillow's NEAREST
// and torch's nearest-exact do (torch's plain nearest leaves out the half).
Mask resize_nearest(const Mask& mask, int width, int height);

}  // namespace crisp::image
