#pragma once

#include <vector>

#include "crisp/image/image.h"

namespace crisp::loss {

// A label edge runs between two 4-neighbours whose labels differ, both known. Where one of them is 255 nobody knows
// whether there is an edge; the image's frame is none. The functions keep no state: any thread may call them, and
// loaders do, on each crop.

// The target of the boundary loss, one byte a pixel: 1 within the band around an edge, 0 outside, and 255 where the
// loss must not look: on pixels labelled 255 and as near to those as the band is to an edge.
// `width` 2: the two pixels at an edge, one on each side. 3: pixels whose centre is at most 1.5 pixels from an edge,
// which adds the 4-neighbours of the former. Another width is a UsageError.
image::Mask boundary_band(const image::Mask& labels, int width = 2);

// For the surface loss and edge_weight(): the distance in pixels from each pixel to the nearest one at an edge (0 on
// both sides of it), exact and Euclidean, clipped at `limit` and divided by it, row by row. 1 everywhere in an image
// without edge.
constexpr int kEdgeLimit = 32;
std::vector<float> edge_distance(const image::Mask& labels, int limit = kEdgeLimit);

}  // namespace crisp::loss
