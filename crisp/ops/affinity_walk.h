#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crisp::ops {

// What AffinityNet (Ahn and Kwak, 2018) does with the likeness of neighbouring pixels of a small map (stride 8).
//
// Every pair of pixels nearer than `radius` is named once, by its upper (then left) pixel and an offset to the
// other: arrays of pairs are [offsets, height, width], with 0 where the other pixel is outside the frame. (The
// public code leaves out pairs whose first pixel is within radius of the left, right or lower frame; here every pair
// inside the frame counts.)

struct PairOffset {
  int dy, dx;
  bool operator==(const PairOffset&) const = default;
};

// (0, 1) to (0, radius - 1), then row by row dy^2 + dx^2 < radius^2 below: 34 offsets for radius 5.
std::vector<PairOffset> pair_offsets(int radius = 5);

// exp(-mean_c |f_i - f_j|) for every pair, from features [channels, height, width].
std::vector<float> feature_affinities(std::span<const float> features, int channels, int height, int width,
                                      int radius = 5);

// What a pair of pixels says about affinity, for training.
enum PairKind : uint8_t { kNoPair = 0, kSameObject = 1, kSameBackground = 2, kDifferent = 3 };

// Pairs of a map of confident labels [height, width], 255 being unknown.
std::vector<uint8_t> pair_kinds(std::span<const uint8_t> labels, int height, int width, int radius = 5);

// Confident labels out of two readings of one CAM: objects as found under a high background score, background as found
// under a low one, 255 where neither is sure.
std::vector<uint8_t> confident_labels(std::span<const uint8_t> high_score, std::span<const uint8_t> low_score);

// The random walk s = T^steps s, T = affinity^beta with 1 on the diagonal, each row divided by its sum. T is a
// stencil of 68 weights a pixel (radius 5), applied once a step: the power itself, which is dense, is never formed.
// Read-only once built.
class AffinityWalk {
 public:
  // affinities: [offsets, height, width] as from feature_affinities, between 0 and 1; values outside the frame are
  // ignored, NaN counts as 0.
  AffinityWalk(std::span<const float> affinities, int height, int width, int radius = 5, float beta = 8);

  // scores, out: [labels, height, width], and may be the same buffer.
  void apply(std::span<const float> scores, int labels, std::span<float> out, int steps = 256) const;

 private:
  static constexpr size_t kBlock = 16;
  template <size_t Labels>
  void walk(const float* scores, float* out, int steps) const;

  int height_, width_, margin_;
  size_t blocks_, stride_;         // of a padded row: blocks of pixels, floats
  std::vector<ptrdiff_t> shifts_;  // [taps], in a padded plane
  std::vector<float> transition_;  // [height, blocks, taps, kBlock]
};

}  // namespace crisp::ops
