#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "crisp/base/simd.h"
#include "crisp/ops/fast_exp.h"
#include "crisp/ops/propagate_kernel.h"

namespace crisp::ops {
namespace {

constexpr int64_t kLanes = kPropagateLanes, kAround = kPropagateNeighbours;

// The weights of kLanes cells of a row. `here`: the first of them in the first channel of the widened photo, whose
// channels are `plane` numbers apart; from[i]: where neighbour i lies, seen from a cell. weights: [kAround, kLanes].
CRISP_SIMD void weigh(const float* here, int64_t plane, int64_t channels, const int64_t* from, float sharpness,
                      float* weights) {
  std::fill_n(weights, kAround * kLanes, 0.0f);
  for (int64_t c = 0; c < channels; ++c, here += plane) {
    float mean[kLanes] = {}, deviation[kLanes] = {};
    for (int64_t i = 0; i < kAround; ++i) {
      for (int64_t x = 0; x < kLanes; ++x) mean[x] += here[from[i] + x];
    }
    for (int64_t x = 0; x < kLanes; ++x) mean[x] /= kAround;
    for (int64_t i = 0; i < kAround; ++i) {
      for (int64_t x = 0; x < kLanes; ++x) {
        const float away = here[from[i] + x] - mean[x];
        deviation[x] += away * away;
      }
    }
    for (int64_t x = 0; x < kLanes; ++x) deviation[x] = std::sqrt(deviation[x] / (kAround - 1)) * sharpness + 1e-5f;
    for (int64_t i = 0; i < kAround; ++i) {
      for (int64_t x = 0; x < kLanes; ++x) {
        const float unlike = (here[from[i] + x] - here[x]) / deviation[x];
        weights[i * kLanes + x] += unlike * unlike;
      }
    }
  }
  float least[kLanes], sum[kLanes] = {};
  std::fill_n(least, kLanes, std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < kAround; ++i) {
    for (int64_t x = 0; x < kLanes; ++x) least[x] = std::min(least[x], weights[i * kLanes + x]);
  }
  const float share = 1 / static_cast<float>(channels);
  for (int64_t i = 0; i < kAround; ++i) {
    for (int64_t x = 0; x < kLanes; ++x) {
      const float score = (least[x] - weights[i * kLanes + x]) * share;
      weights[i * kLanes + x] = exp_negative(std::max(score, -50.0f));
      sum[x] += weights[i * kLanes + x];
    }
  }
  for (int64_t i = 0; i < kAround; ++i) {
    for (int64_t x = 0; x < kLanes; ++x) weights[i * kLanes + x] /= sum[x];
  }
}

}  // namespace

WidePhoto widened(const float* colours, int64_t channels, int64_t height, int64_t width) {
  WidePhoto wide{.channels = channels, .height = height, .width = width, .numbers = {}};
  wide.numbers.resize(static_cast<size_t>(channels * wide.plane()));
  float* to = wide.numbers.data();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = -kPropagateReach; y < height + kPropagateReach; ++y, to += wide.stride()) {
      const float* from = colours + (c * height + std::clamp<int64_t>(y, 0, height - 1)) * width;
      std::fill_n(to, kPropagateReach, from[0]);
      std::copy_n(from, width, to + kPropagateReach);
      std::fill_n(to + kPropagateReach + width, kPropagateReach, from[width - 1]);
    }
  }
  return wide;
}

void propagation_weights_cpu(const WidePhoto& photo, float sharpness, float* out, int64_t first, int64_t last) {
  const int64_t area = photo.height * photo.width;
  std::array<int64_t, kAround> from{};
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = propagate_offsets()[i].dy * photo.stride() + propagate_offsets()[i].dx;
  }
  std::vector<float> block(kAround * kLanes);
  for (int64_t y = first; y < last; ++y) {
    const float* row = photo.numbers.data() + (y + kPropagateReach) * photo.stride() + kPropagateReach;
    for (int64_t at = 0; at < photo.width; at += kLanes) {
      const int64_t x = std::min(at, photo.width - kLanes);  // the last ones overlap
      weigh(row + x, photo.plane(), photo.channels, from.data(), sharpness, block.data());
      for (int64_t i = 0; i < kAround; ++i) {
        std::copy_n(block.data() + i * kLanes, kLanes, out + i * area + y * photo.width + x);
      }
    }
  }
}

}  // namespace crisp::ops
