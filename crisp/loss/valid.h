#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "crisp/image/image.h"

namespace crisp::loss {

// Which pixels of a pseudo-label are too uncertain to learn from.
struct DropOptions {
  double share = 0.3;               // q: the most uncertain share of each class of an image is dropped, 0..1
  int64_t keep_at_least = 0;        // this many pixels of each label stay, the most certain (all, where it has fewer)
  bool image_wide = false;          // `share` of all labelled pixels at once, not of each class
  std::optional<double> threshold;  // tau, 0..1, instead of `share`: dropped when uncertainty / 255 > tau

  bool operator==(const DropOptions&) const = default;
};

// Throws UsageError when an option makes no sense.
void check(const DropOptions& options);

// For each label the highest uncertainty that is kept.
using KeptLevels = std::array<uint8_t, 256>;

// Where to cut, from a whole image's labels and their uncertainty (0..255, the same size). A level of uncertainty is
// kept or dropped as a whole: levels go from the top down while what is dropped stays within the share. So the answer
// depends on nothing but the two maps, never more than the share is dropped, and a flat map loses nothing. Linear in
// the number of pixels; no state, so that any thread of a loader may call it.
KeptLevels kept_levels(const image::Mask& labels, const image::Mask& uncertainty, const DropOptions& options);

// The labels with 255 where the uncertainty lies above the label's kept level. `labels` and `uncertainty` may be a
// crop or a resized version of what kept_levels() saw. Boundary targets come from the labels before this.
image::Mask drop_uncertain(image::Mask labels, const image::Mask& uncertainty, const KeptLevels& kept);

}  // namespace crisp::loss
