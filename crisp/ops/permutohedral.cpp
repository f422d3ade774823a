#include "crisp/ops/permutohedral.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/ops/permutohedral_keys.h"

namespace crisp::ops {
namespace {

constexpr size_t kVertices = Permutohedral::kVertices;
using Keys = std::vector<uint64_t>;

// Adds every neighbour of every vertex; gives up, changing nothing, beyond the budget. Keys stay sorted.
bool fill(Keys& keys, const std::array<uint64_t, kVertices>& steps, size_t budget) {
  Keys all = keys, shifted(keys.size()), merged;
  for (const uint64_t step : steps)
    for (const uint64_t move : {step, uint64_t{0} - step}) {
      if (all.size() > budget) return false;
      std::transform(keys.begin(), keys.end(), shifted.begin(), [move](uint64_t key) { return key + move; });
      merged.resize(all.size() + keys.size());
      merged.erase(std::set_union(all.begin(), all.end(), shifted.begin(), shifted.end(), merged.begin()),
                   merged.end());
      all.swap(merged);
    }
  if (all.size() > budget) return false;
  keys.swap(all);
  return true;
}

// How much of its own value a point gets back from splatting, blurring and slicing. Two vertices of a simplex that are
// m steps apart meet by taking those m steps, or the other 6 - m backwards.
float own_weight(const std::array<float, kVertices>& weight) {
  static constexpr auto kMeet = [] {
    std::array<float, kVertices> meet{};
    const auto ways = [](size_t m) { return power(kBlurSide, m) * power(1 - 2 * kBlurSide, kVertices - m); };
    for (size_t m = 0; m < kVertices; ++m)
      meet[m] = static_cast<float>(ways(m) + (m == 0 ? 2 : 1) * ways(kVertices - m));
    return meet;
  }();
  float sum = 0;
  for (size_t a = 0; a < kVertices; ++a) {
    sum += weight[a] * weight[a] * kMeet[0];
    for (size_t b = a + 1; b < kVertices; ++b) sum += 2 * weight[a] * weight[b] * kMeet[b - a];
  }
  return sum;
}

// The factor between the lattice's sums and the Gaussian's. Both kernels must have the same integral: here the volume
// of a lattice cell, v^-5/2 / sqrt(6) for a variance of v cells, there (2 pi)^5/2.
constexpr double kArea = 6.283185307179586 * kLatticeVariance;
constexpr auto kGaussianScale = static_cast<float>(1 / (square_root(6) * kArea * kArea * square_root(kArea)));

}  // namespace

Permutohedral::Permutohedral(std::span<const float> features, size_t count, size_t fill_budget) {
  if (features.size() != count * kDimensions)
    throw Error("permutohedral lattice: {} numbers given for {} points of {} dimensions", features.size(), count,
                kDimensions);
  if (count == 0) return;
  simplex_.resize(count);
  weight_.resize(count);
  const KeyFormat format(features.data(), count);
  Keys touched = enclosing_simplices(features.data(), count, format, simplex_.data(), weight_.data());

  // In the order of their keys the neighbours of successive vertices are successive too: blurring reads memory in
  // order, and finding neighbours is a merge.
  Keys keys = touched;
  std::sort(keys.begin(), keys.end());
  const bool filled = fill(keys, format.steps(), fill_budget);
  vertices_ = keys.size();

  std::vector<uint32_t> number = numbers_in(keys, touched);
  for (auto& simplex : simplex_)
    for (uint32_t& vertex : simplex) vertex = number[vertex];
  for (size_t j = 0; j < kVertices; ++j) {
    auto& neighbours = neighbours_[j];
    neighbours.resize(vertices_ + 1);
    for (size_t i = 0, k = 0; i < vertices_; ++i) {
      const uint64_t wanted = keys[i] + format.steps()[j];
      while (k < vertices_ && keys[k] < wanted) ++k;
      if (k == vertices_ || keys[k] != wanted) continue;
      neighbours[i + 1].after = static_cast<uint32_t>(k + 1);
      neighbours[k + 1].before = static_cast<uint32_t>(i + 1);
    }
  }
  if (filled) {
    self_.resize(count);
    for (size_t i = 0; i < count; ++i) self_[i] = kGaussianScale - own_weight(weight_[i]);
  }
}

template <size_t Width>
void Permutohedral::filter_block(const float* in, float* out, size_t stride, std::vector<float>& scratch) const {
  constexpr auto kSide = static_cast<float>(kBlurSide), kMiddle = 1 - 2 * kSide;
  const size_t length = (vertices_ + 1) * Width, count = simplex_.size();
  scratch.resize(2 * length);
  float* now = scratch.data();
  float* next = now + length;
  std::fill_n(now, length, 0.0f);
  std::fill_n(next, Width, 0.0f);
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < kVertices; ++k) {
      float* value = now + simplex_[i][k] * Width;
      const float weight = weight_[i][k];
      for (size_t c = 0; c < Width; ++c) value[c] += weight * in[i * stride + c];
    }
  for (const auto& neighbours : neighbours_) {
    for (size_t i = 1; i <= vertices_; ++i) {
      const float* before = now + neighbours[i].before * Width;
      const float* after = now + neighbours[i].after * Width;
      for (size_t c = 0; c < Width; ++c)
        next[i * Width + c] = kMiddle * now[i * Width + c] + kSide * (before[c] + after[c]);
    }
    std::swap(now, next);
  }
  for (size_t i = 0; i < count; ++i) {
    float sum[Width] = {};
    if (!self_.empty())
      for (size_t c = 0; c < Width; ++c) sum[c] = self_[i] * in[i * stride + c];
    for (size_t k = 0; k < kVertices; ++k) {
      const float* value = now + simplex_[i][k] * Width;
      const float weight = weight_[i][k];
      for (size_t c = 0; c < Width; ++c) sum[c] += weight * value[c];
    }
    for (size_t c = 0; c < Width; ++c) out[i * stride + c] = sum[c];
  }
}

void Permutohedral::filter(const float* in, float* out, size_t channels) const {
  std::vector<float> scratch;
  for (size_t c = 0; c < channels;) {
    const size_t left = channels - c;
    if (left >= 16) {
      filter_block<16>(in + c, out + c, channels, scratch), c += 16;
    } else if (left >= 8) {
      filter_block<8>(in + c, out + c, channels, scratch), c += 8;
    } else {
      filter_block<4>(in + c, out + c, channels, scratch), c += 4;
    }
  }
}

}  // namespace crisp::ops
