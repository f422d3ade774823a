#include "crisp/ops/permutohedral_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/simd.h"

namespace crisp::ops {
namespace {

constexpr size_t kDimensions = Permutohedral::kDimensions;
constexpr size_t kVertices = Permutohedral::kVertices;
constexpr int32_t kCell = kVertices;  // lattice points of one remainder are this far apart

// Feature j - 1 spreads over coordinates 0 to j of the hyperplane. The factor makes splatting, blurring and slicing
// together have unit variance.
constexpr auto kScale = [] {
  std::array<float, kDimensions> scale{};
  for (size_t j = 1; j <= kDimensions; ++j)
    scale[j - 1] =
        static_cast<float>(kCell * square_root(kLatticeVariance) / square_root(static_cast<double>(j * (j + 1))));
  return scale;
}();

// A block of points seen from the lattice, one array a coordinate so that the arithmetic runs over points.
constexpr size_t kBlock = 128;
struct Block {
  float elevated[kVertices][kBlock];
  int32_t origin[kVertices][kBlock];  // vertex 0 of the enclosing simplex
  int32_t rank[kVertices][kBlock];    // the place of each coordinate when the remainders are sorted
  float weight[kVertices][kBlock];
};

CRISP_SIMD void elevate(const float* features, size_t count, size_t first, size_t size, Block& block) {
  for (size_t b = 0; b < size; ++b) {
    float sum = 0;
    for (size_t j = kDimensions; j > 0; --j) {
      const float value = features[(j - 1) * count + first + b] * kScale[j - 1];
      block.elevated[j][b] = sum - static_cast<float>(j) * value;
      sum += value;
    }
    block.elevated[0][b] = sum;
  }
}

// The nearest lattice point of remainder 0, the order of what is left, and from both the enclosing simplex.
CRISP_SIMD void enclose(size_t size, Block& block) {
  for (size_t b = 0; b < size; ++b) {
    float left[kVertices], sorted[kVertices] = {};
    int32_t origin[kVertices], rank[kVertices] = {}, excess = 0;
    for (size_t i = 0; i < kVertices; ++i) {
      const float cell = std::floor(block.elevated[i][b] * (1.0f / kCell) + 0.5f);
      origin[i] = static_cast<int32_t>(cell) * kCell;
      left[i] = block.elevated[i][b] - cell * kCell;
      excess += static_cast<int32_t>(cell);
    }
    for (size_t i = 0; i < kVertices; ++i)
      for (size_t j = i + 1; j < kVertices; ++j) {
        const int32_t less = left[i] < left[j] ? 1 : 0;
        rank[i] += less;
        rank[j] += 1 - less;
      }
    // Rounding may leave the plane; the coordinates that were rounded furthest step back.
    for (size_t i = 0; i < kVertices; ++i) {
      rank[i] += excess;
      const int32_t step = rank[i] >= kCell ? -kCell : rank[i] < 0 ? kCell : 0;
      rank[i] += step;
      origin[i] += step;
      left[i] = (left[i] - static_cast<float>(step)) * (1.0f / kCell);
      for (int32_t k = 0; k < kCell; ++k) sorted[k] += rank[i] == k ? left[i] : 0.0f;
    }
    for (size_t i = 0; i < kVertices; ++i) {
      block.origin[i][b] = origin[i];
      block.rank[i][b] = rank[i];
    }
    block.weight[0][b] = 1 + sorted[kDimensions] - sorted[0];
    for (size_t k = 1; k < kVertices; ++k) block.weight[k][b] = sorted[kDimensions - k] - sorted[kVertices - k];
  }
}

// Open addressing from keys to numbers, which count from 0 in the order of arrival.
class KeyTable {
 public:
  explicit KeyTable(size_t expected) { grow(std::bit_ceil(std::max<size_t>(2 * expected, 1024))); }

  uint32_t number(uint64_t key) {
    size_t slot = home(key);
    for (; slots_[slot].used; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot].key == key) return slots_[slot].number;
    const auto next = static_cast<uint32_t>(keys_.size());
    slots_[slot] = {key, next, 1};
    keys_.push_back(key);
    if (2 * keys_.size() >= slots_.size()) grow(2 * slots_.size());
    return next;
  }
  std::vector<uint64_t> take_keys() { return std::move(keys_); }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t number = 0, used = 0;
  };
  size_t home(uint64_t key) const { return static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> shift_); }
  void grow(size_t size) {
    slots_.assign(size, {});
    shift_ = 64 - std::countr_zero(size);
    for (uint32_t i = 0; i < keys_.size(); ++i) {
      size_t slot = home(keys_[i]);
      while (slots_[slot].used) slot = (slot + 1) & (size - 1);
      slots_[slot] = {keys_[i], i, 1};
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> keys_;
  int shift_ = 0;
};

}  // namespace

KeyFormat::KeyFormat(const float* features, size_t count) {
  constexpr int32_t kMargin = 3 * kCell;  // the simplex, added neighbours and the search for theirs reach one cell each
  const auto too_wide = [] {
    return Error("permutohedral lattice: the image is too large for such small sigmas; use larger ones");
  };
  int shift = 0;
  double sum_low = 0, sum_high = 0;
  uint64_t ones = 0;
  for (size_t j = kDimensions; j > 0; --j) {
    const float* plane = features + (j - 1) * count;
    const auto [least, most] = std::minmax_element(plane, plane + count);
    const double low = static_cast<double>(*least) * kScale[j - 1], high = static_cast<double>(*most) * kScale[j - 1];
    if (!(std::abs(low) < 1e6 && std::abs(high) < 1e6)) throw too_wide();
    const auto from = static_cast<int32_t>(std::floor(sum_low - static_cast<double>(j) * high)) - kMargin;
    const auto to = static_cast<int32_t>(std::ceil(sum_high - static_cast<double>(j) * low)) + kMargin;
    const int bits = std::bit_width(static_cast<uint32_t>(to - from));
    if (shift + bits > 64) throw too_wide();
    least_[j - 1] = from;
    unit_[j - 1] = uint64_t{1} << shift;
    ones += unit_[j - 1];
    shift += bits;
    sum_low += low;
    sum_high += high;
  }
  steps_[0] = ones;
  for (size_t j = 1; j < kVertices; ++j) steps_[j] = ones - static_cast<uint64_t>(kCell) * unit_[j - 1];
}

uint64_t KeyFormat::key(const std::array<int32_t, kVertices>& coordinates) const {
  uint64_t key = 0;
  for (size_t j = 0; j < kDimensions; ++j) key += static_cast<uint32_t>(coordinates[j + 1] - least_[j]) * unit_[j];
  return key;
}

std::vector<uint64_t> enclosing_simplices(const float* features, size_t count, const KeyFormat& format,
                                          std::array<uint32_t, kVertices>* simplex,
                                          std::array<float, kVertices>* weight) {
  KeyTable table(count / 4);
  Block block;
  std::array<uint64_t, kVertices> keys{}, last_keys{};
  for (size_t first = 0; first < count; first += kBlock) {
    const size_t size = std::min(kBlock, count - first);
    elevate(features, count, first, size, block);
    enclose(size, block);
    for (size_t b = 0; b < size; ++b) {
      const size_t i = first + b;
      std::array<int32_t, kVertices> origin{};
      std::array<size_t, kVertices> at_rank{};
      for (size_t j = 0; j < kVertices; ++j) {
        origin[j] = block.origin[j][b];
        at_rank[static_cast<size_t>(block.rank[j][b])] = j;
        weight[i][j] = block.weight[j][b];
      }
      keys[0] = format.key(origin);
      // Vertex k lies one step from vertex k - 1, along the coordinate with the k-th smallest remainder.
      for (size_t k = 1; k < kVertices; ++k) keys[k] = keys[k - 1] + format.steps()[at_rank[kVertices - k]];
      // Neighbouring pixels often share their simplex.
      if (i > 0 && keys == last_keys) {
        simplex[i] = simplex[i - 1];
        continue;
      }
      for (size_t k = 0; k < kVertices; ++k) simplex[i][k] = table.number(keys[k]);
      last_keys = keys;
    }
  }
  return table.take_keys();
}

std::vector<uint32_t> numbers_in(const std::vector<uint64_t>& sorted, const std::vector<uint64_t>& some) {
  std::vector<uint32_t> order(some.size()), numbers(some.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return some[a] < some[b]; });
  size_t k = 0;
  for (const uint32_t i : order) {
    while (sorted[k] < some[i]) ++k;
    numbers[i] = static_cast<uint32_t>(k + 1);
  }
  return numbers;
}

}  // namespace crisp::ops
