#include "crisp/image/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "crisp/base/error.h"
#include "crisp/image/distance.h"
#include "crisp/image/legend.h"

namespace crisp::image {
namespace {

std::string class_name(size_t label, const ClassNames& names) {
  if (label < names.size()) return names[label];
  return label == kIgnore ? "ignored" : fmt::format("class {}", label);
}

// Background needs no swatch, unless there is nothing else to say.
std::vector<LegendEntry> classes_present(const Mask& mask, const ClassNames& names, const Palette& palette) {
  std::bitset<256> present;
  for (const uint8_t label : mask.labels) present.set(label);
  std::vector<LegendEntry> entries;
  for (size_t label = 1; label < 256; ++label) {
    if (present[label]) entries.push_back({class_name(label, names), palette[label]});
  }
  if (entries.empty()) entries.push_back({class_name(0, names) + " only", palette[0]});
  return entries;
}

// Nonzero on pixels that have a neighbour of another label to the right or below, or are that neighbour.
Mask label_changes(const Mask& mask) {
  Mask changes(mask.width, mask.height);
  for (int y = 0; y < mask.height; ++y) {
    const uint8_t* here = mask.row(y);
    const uint8_t* below = y + 1 < mask.height ? mask.row(y + 1) : here;
    uint8_t* out = changes.row(y);
    uint8_t* out_below = y + 1 < mask.height ? changes.row(y + 1) : out;
    for (int x = 0; x < mask.width; ++x) {
      if (x + 1 < mask.width && here[x] != here[x + 1]) out[x] = out[x + 1] = 1;
      if (here[x] != below[x]) out[x] = out_below[x] = 1;
    }
  }
  return changes;
}

// The pixels to draw as outline, `thickness` wide on the inner side of an edge.
Mask outlines(const Mask& mask, int thickness) {
  Mask lines = label_changes(mask);
  if (thickness == 1) return lines;
  const std::vector<int32_t> squared = squared_distance(lines);
  const int32_t most = (thickness - 1) * (thickness - 1);
  for (size_t i = 0; i < squared.size(); ++i) lines.labels[i] = squared[i] <= most;
  return lines;
}

uint8_t blend(uint8_t under, uint8_t over, double alpha) {
  return static_cast<uint8_t>(std::lround(under + alpha * (over - under)));
}

// Dark colours are lifted, so that a line shows on dark ground too.
Colour line_colour(const Colour& colour) {
  Colour bright;
  const int most = std::max({colour[0], colour[1], colour[2], uint8_t{1}});
  for (size_t c = 0; c < 3; ++c) bright[c] = blend(static_cast<uint8_t>(colour[c] * 255 / most), 255, 0.35);
  return bright;
}

}  // namespace

Image overlay(const Image& photo, const Mask& mask, const ClassNames& names, const OverlayOptions& options) {
  if (photo.width != mask.width || photo.height != mask.height) {
    throw Error("an overlay needs photo and mask of one size: {} x {} and {} x {}", photo.width, photo.height,
                mask.width, mask.height);
  }
  if (!(options.alpha >= 0 && options.alpha <= 1))
    throw Error("overlay alpha {} is not between 0 and 1", options.alpha);
  const Mask lines = options.outline ? outlines(mask, drawing_size(mask.width, mask.height)) : Mask();
  Image result = photo;
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    const uint8_t label = mask.labels[i];
    if (label == 0) continue;
    const bool line = options.outline && label != kIgnore && lines.labels[i] != 0;
    const Colour colour = line ? line_colour(options.palette[label]) : options.palette[label];
    uint8_t* pixel = result.rgb.data() + 3 * i;
    for (size_t c = 0; c < 3; ++c) pixel[c] = blend(pixel[c], colour[c], line ? 1 : options.alpha);
  }
  return options.legend ? with_legend(result, classes_present(mask, names, options.palette)) : result;
}

}  // namespace crisp::image
