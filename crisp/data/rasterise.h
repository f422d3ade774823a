#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "crisp/image/image.h"

namespace crisp::data {

// Run lengths in COCO's order: down the columns, alternating outside and inside, outside first.
// They sum to width * height.
using Runs = std::vector<uint32_t>;

// The pixels of a polygon (x0, y0, x1, y1, ... in pixels, closed by itself), by COCO's own rule (the mask
// API of Piotr Dollar and Tsung-Yi Lin): vertices are rounded to a grid five times finer, edges are walked
// on it, and each column is switched where an edge crosses its middle. Overlapping turns cancel (even-odd).
// Callers ensure an even count of at least 6 finite numbers within +-kFarthest.
constexpr double kFarthest = 1e5;
Runs polygon_runs(std::span<const double> xy, int width, int height);

// COCO's compressed form: six bits a character, differences to the run two before. Error when the text
// is not of that form; the sum is not checked here.
Runs decode_runs(std::string_view text);

// Throws Error unless the runs cover width * height exactly.
void check_runs(std::span<const uint32_t> runs, int width, int height);

// Sets pixels inside to `label`.
void paint_runs(std::span<const uint32_t> runs, uint8_t label, image::Mask& mask);

// Pixels inside.
int64_t runs_area(std::span<const uint32_t> runs);

// Several regions of one image to a semantic mask.
struct Region {
  std::vector<Runs> parts;  // their union
  uint8_t label = 0;
  bool crowd = false;
};

// kSmallerOnTop: regions are painted from the largest to the smallest (pixels inside), ties in
// file order: a cup on a table stays visible. kFileOrder: as they stand in the file, later ones on top.
enum class Overlap { kSmallerOnTop, kFileOrder };

// Crowd regions (rough outlines of many objects) always lie beneath the others. kClass: they carry their
// class; kIgnore: 255.
enum class Crowd { kClass, kIgnore };

struct RasteriseOptions {
  Overlap overlap = Overlap::kSmallerOnTop;
  Crowd crowd = Crowd::kClass;
};

image::Mask semantic_mask(std::span<const Region> regions, int width, int height, const RasteriseOptions& options);

}  // namespace crisp::data
