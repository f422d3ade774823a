#include "crisp/loss/valid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "crisp/base/error.h"

namespace crisp::loss {
namespace {

using Histogram = std::array<int64_t, 256>;  // pixels of each uncertainty

void check_sizes(const image::Mask& labels, const image::Mask& uncertainty) {
  if (labels.width == uncertainty.width && labels.height == uncertainty.height) return;
  throw Error("labels are {} x {} pixels but their uncertainty is {} x {}: both must come from one image", labels.width,
              labels.height, uncertainty.width, uncertainty.height);
}

// The highest level that stays when whole levels go, from the top, while at most `share` of the pixels does.
uint8_t level_by_share(const Histogram& pixels, double share) {
  int64_t total = 0;
  for (const int64_t count : pixels) total += count;
  // The small term: 0.29 * 100 is 28.999... in binary, and means 29.
  const auto allowed = static_cast<int64_t>(std::floor(share * static_cast<double>(total) + 1e-6));
  int64_t dropped = 0;
  for (size_t level = 255; level > 0; --level) {
    dropped += pixels[level];
    if (dropped > allowed) return static_cast<uint8_t>(level);
  }
  return 0;
}

// The lowest level up to which there are at least `wanted` pixels; 255 where there are fewer.
uint8_t level_keeping(const Histogram& pixels, int64_t wanted) {
  int64_t kept = 0;
  for (size_t level = 0; level < 255; ++level) {
    kept += pixels[level];
    if (kept >= wanted) return static_cast<uint8_t>(level);
  }
  return 255;
}

}  // namespace

void check(const DropOptions& options) {
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };  // false for NaN
  if (!is_share(options.share))
    throw UsageError("the share of uncertain pixels to drop is 0 to 1, not {}", options.share);
  if (options.keep_at_least < 0) throw UsageError("cannot keep {} pixels of a class", options.keep_at_least);
  if (options.threshold && !is_share(*options.threshold)) {
    throw UsageError("the uncertainty threshold is 0 to 1, not {}", *options.threshold);
  }
}

KeptLevels kept_levels(const image::Mask& labels, const image::Mask& uncertainty, const DropOptions& options) {
  check(options);
  check_sizes(labels, uncertainty);
  std::vector<Histogram> of_label(256, Histogram{});
  for (size_t i = 0; i < labels.labels.size(); ++i) ++of_label[labels.labels[i]][uncertainty.labels[i]];

  KeptLevels kept;
  kept.fill(255);
  if (options.threshold) {
    kept.fill(static_cast<uint8_t>(std::floor(*options.threshold * 255 + 1e-6)));
  } else if (options.image_wide) {
    Histogram all{};
    for (size_t label = 0; label < image::kIgnore; ++label) {
      for (size_t level = 0; level < all.size(); ++level) all[level] += of_label[label][level];
    }
    kept.fill(level_by_share(all, options.share));
  } else {
    for (size_t label = 0; label < image::kIgnore; ++label) {
      kept[label] = level_by_share(of_label[label], options.share);
    }
  }
  for (size_t label = 0; label < image::kIgnore && options.keep_at_least > 0; ++label) {
    kept[label] = std::max(kept[label], level_keeping(of_label[label], options.keep_at_least));
  }
  return kept;
}

image::Mask drop_uncertain(image::Mask labels, const image::Mask& uncertainty, const KeptLevels& kept) {
  check_sizes(labels, uncertainty);
  for (size_t i = 0; i < labels.labels.size(); ++i) {
    if (uncertainty.labels[i] > kept[labels.labels[i]]) labels.labels[i] = image::kIgnore;
  }
  return labels;
}

}  // namespace crisp::loss
