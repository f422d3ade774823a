#include "crisp/ops/affinity_walk.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crisp/base/error.h"
#include "crisp/base/simd.h"

namespace crisp::ops {
namespace {

constexpr int kLargestRadius = 64;
constexpr size_t kLanes = 16;

// Sixteen pixels at a time, whatever the machine's registers hold; a function around it is compiled for each kind.
using Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias)) = float;

// One step for `Labels` planes of `plane` floats. Rows of T sum to 1, so a pixel moves by the weighted differences to
// its neighbours; written so, rounding does not add up over hundreds of steps and a constant map stays what it is.
template <size_t Labels>
[[gnu::always_inline]] inline void step(const float* transition, const ptrdiff_t* shifts, size_t taps, size_t height,
                                        size_t blocks, size_t stride, size_t plane, const float* from, float* to) {
  for (size_t y = 0; y < height; ++y)
    for (size_t b = 0; b < blocks; ++b) {
      const float* weights = transition + (y * blocks + b) * taps * kLanes;
      const float* centre = from + y * stride + b * kLanes;
      Lanes own[Labels], sums[Labels];
      for (size_t l = 0; l < Labels; ++l) {
        own[l] = *reinterpret_cast<const Lanes*>(centre + l * plane);
        sums[l] = Lanes{};
      }
      for (size_t t = 0; t < taps; ++t) {
        const Lanes weight = *reinterpret_cast<const Lanes*>(weights + t * kLanes);
        for (size_t l = 0; l < Labels; ++l) {
          const float* partner = centre + shifts[t] + static_cast<ptrdiff_t>(l * plane);
          sums[l] += weight * (*reinterpret_cast<const Lanes*>(partner) - own[l]);
        }
      }
      for (size_t l = 0; l < Labels; ++l)
        *reinterpret_cast<Lanes*>(to + l * plane + y * stride + b * kLanes) = own[l] + sums[l];
    }
}

CRISP_SIMD void step_1(const float* transition, const ptrdiff_t* shifts, size_t taps, size_t height, size_t blocks,
                       size_t stride, size_t plane, const float* from, float* to) {
  step<1>(transition, shifts, taps, height, blocks, stride, plane, from, to);
}

CRISP_SIMD void step_4(const float* transition, const ptrdiff_t* shifts, size_t taps, size_t height, size_t blocks,
                       size_t stride, size_t plane, const float* from, float* to) {
  step<4>(transition, shifts, taps, height, blocks, stride, plane, from, to);
}

CRISP_SIMD void add_difference(const float* __restrict a, const float* __restrict b, float* __restrict sum,
                               size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] += std::abs(a[i] - b[i]);
}

void check_map(const char* what, size_t given, size_t planes, int height, int width) {
  if (height < 1 || width < 1) throw Error("{}: a map of {} x {} pixels; each must be at least 1", what, width, height);
  const size_t needed = planes * static_cast<size_t>(height) * static_cast<size_t>(width);
  if (given != needed)
    throw Error("{}: {} maps of {} x {} pixels are {} numbers; given {}", what, planes, width, height, needed, given);
}

// The columns x for which x + dx is inside, and whether row y + dy is.
struct Overlap {
  size_t from, to;
};
Overlap columns(int width, int dx) {
  return {static_cast<size_t>(std::clamp(-dx, 0, width)), static_cast<size_t>(std::clamp(width - dx, 0, width))};
}

// Calls visit(offset, first pixel, second pixel) for every pair inside the frame, a row at a time from low to high.
template <typename Visit>
void for_each_pair_row(int height, int width, const std::vector<PairOffset>& offsets, const Visit& visit) {
  for (size_t o = 0; o < offsets.size(); ++o) {
    const Overlap overlap = columns(width, offsets[o].dx);
    if (overlap.from >= overlap.to) continue;
    for (int y = 0; y + offsets[o].dy < height; ++y) {
      const size_t first = static_cast<size_t>(y) * static_cast<size_t>(width) + overlap.from;
      const size_t second = static_cast<size_t>(static_cast<ptrdiff_t>(first) + offsets[o].dy * width + offsets[o].dx);
      visit(o, first, second, overlap.to - overlap.from);
    }
  }
}

}  // namespace

std::vector<PairOffset> pair_offsets(int radius) {
  if (radius < 1 || radius > kLargestRadius)
    throw UsageError("affinity: a radius of {}; it lies between 1 and {}", radius, kLargestRadius);
  std::vector<PairOffset> offsets;
  for (int dx = 1; dx < radius; ++dx) offsets.push_back({0, dx});
  for (int dy = 1; dy < radius; ++dy)
    for (int dx = 1 - radius; dx < radius; ++dx)
      if (dy * dy + dx * dx < radius * radius) offsets.push_back({dy, dx});
  return offsets;
}

std::vector<float> feature_affinities(std::span<const float> features, int channels, int height, int width,
                                      int radius) {
  if (channels < 1) throw Error("affinity: {} feature channels; at least 1 is needed", channels);
  check_map("affinity features", features.size(), static_cast<size_t>(channels), height, width);
  const std::vector<PairOffset> offsets = pair_offsets(radius);
  const size_t pixels = static_cast<size_t>(height) * static_cast<size_t>(width);
  std::vector<float> affinities(offsets.size() * pixels, 0.0f);
  const float scale = 1 / static_cast<float>(channels);
  for_each_pair_row(height, width, offsets, [&](size_t o, size_t first, size_t second, size_t count) {
    float* row = affinities.data() + o * pixels + first;
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
      add_difference(features.data() + c * pixels + first, features.data() + c * pixels + second, row, count);
    for (size_t i = 0; i < count; ++i) row[i] = std::exp(-row[i] * scale);
  });
  return affinities;
}

std::vector<uint8_t> pair_kinds(std::span<const uint8_t> labels, int height, int width, int radius) {
  check_map("pair labels", labels.size(), 1, height, width);
  const std::vector<PairOffset> offsets = pair_offsets(radius);
  std::vector<uint8_t> kinds(offsets.size() * labels.size(), kNoPair);
  for_each_pair_row(height, width, offsets, [&](size_t o, size_t first, size_t second, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const uint8_t a = labels[first + i], b = labels[second + i];
      if (a == 255 || b == 255) continue;
      kinds[o * labels.size() + first + i] = a != b ? kDifferent : a == 0 ? kSameBackground : kSameObject;
    }
  });
  return kinds;
}

std::vector<uint8_t> confident_labels(std::span<const uint8_t> high_score, std::span<const uint8_t> low_score) {
  if (high_score.size() != low_score.size())
    throw Error("confident labels: two maps of {} and {} pixels", high_score.size(), low_score.size());
  std::vector<uint8_t> labels(high_score.size());
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = low_score[i] == 0 ? 0 : high_score[i] == 0 ? 255 : high_score[i];
  return labels;
}

AffinityWalk::AffinityWalk(std::span<const float> affinities, int height, int width, int radius, float beta)
    : height_(height), width_(width), margin_(radius - 1) {
  static_assert(kBlock == kLanes);
  const std::vector<PairOffset> offsets = pair_offsets(radius);
  check_map("affinity walk", affinities.size(), offsets.size(), height, width);
  if (!(beta >= 0 && std::isfinite(beta))) throw UsageError("affinity: beta is {}; it must not be negative", beta);
  const auto h = static_cast<size_t>(height), w = static_cast<size_t>(width), pixels = h * w;
  blocks_ = (w + kBlock - 1) / kBlock;
  stride_ = blocks_ * kBlock + 2 * static_cast<size_t>(margin_);
  for (const PairOffset& o : offsets) {
    const ptrdiff_t shift = o.dy * static_cast<ptrdiff_t>(stride_) + o.dx;
    shifts_.insert(shifts_.end(), {shift, -shift});
  }

  // Taps 2o and 2o + 1 are the partners at offset o forwards and backwards. The pixel itself needs none.
  const size_t taps = shifts_.size();
  transition_.assign(h * blocks_ * taps * kBlock, 0.0f);
  const auto at = [&](size_t pixel, size_t tap) -> float& {
    const size_t y = pixel / w, x = pixel % w;
    return transition_[((y * blocks_ + x / kBlock) * taps + tap) * kBlock + x % kBlock];
  };
  std::vector<double> sums(pixels, 1.0);
  for_each_pair_row(height, width, offsets, [&](size_t o, size_t first, size_t second, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const float affinity = affinities[o * pixels + first + i];
      const double weight = affinity > 0 ? std::pow(std::min(affinity, 1.0f), beta) : 0.0;
      // Below float's normal range products would crawl, and such a weight moves nothing in any number of steps.
      if (weight < 1e-30) continue;
      at(first + i, 2 * o) = at(second + i, 2 * o + 1) = static_cast<float>(weight);
      sums[first + i] += weight;
      sums[second + i] += weight;
    }
  });
  for (size_t i = 0; i < pixels; ++i)
    for (size_t t = 0; t < taps; ++t) at(i, t) = static_cast<float>(at(i, t) / sums[i]);
}

template <size_t Labels>
void AffinityWalk::walk(const float* scores, float* out, int steps) const {
  const auto h = static_cast<size_t>(height_), w = static_cast<size_t>(width_), margin = static_cast<size_t>(margin_);
  // A frame of zeros around each plane, and some more behind the last row for the last block's reach.
  const size_t plane = (h + 2 * margin + 1) * stride_, origin = margin * stride_ + margin;
  std::vector<float> now(Labels * plane, 0.0f), next(Labels * plane, 0.0f);
  for (size_t l = 0; l < Labels; ++l)
    for (size_t i = 0; i < h * w; ++i) {
      const float score = scores[l * h * w + i];
      now[l * plane + origin + i / w * stride_ + i % w] = std::isfinite(score) ? score : 0.0f;
    }
  const auto take = Labels == 4 ? step_4 : step_1;
  for (int k = 0; k < steps; ++k) {
    take(transition_.data(), shifts_.data(), shifts_.size(), h, blocks_, stride_, plane, now.data() + origin,
         next.data() + origin);
    now.swap(next);
  }
  for (size_t l = 0; l < Labels; ++l)
    for (size_t y = 0; y < h; ++y)
      std::memcpy(out + (l * h + y) * w, now.data() + l * plane + origin + y * stride_, w * sizeof(float));
}

void AffinityWalk::apply(std::span<const float> scores, int labels, std::span<float> out, int steps) const {
  if (labels < 1 || steps < 0) throw Error("affinity walk: {} labels and {} steps make no sense", labels, steps);
  check_map("affinity walk scores", scores.size(), static_cast<size_t>(labels), height_, width_);
  check_map("affinity walk result", out.size(), static_cast<size_t>(labels), height_, width_);
  const size_t pixels = static_cast<size_t>(height_) * static_cast<size_t>(width_), count = static_cast<size_t>(labels);
  size_t l = 0;
  for (; l + 4 <= count; l += 4) walk<4>(scores.data() + l * pixels, out.data() + l * pixels, steps);
  for (; l < count; ++l) walk<1>(scores.data() + l * pixels, out.data() + l * pixels, steps);
}

}  // namespace crisp::ops
