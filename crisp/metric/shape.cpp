#include "crisp/metric/shape.h"

#include <algorithm>
#include <numbers>

#include "crisp/metric/edge_map.h"

namespace crisp::metric {
namespace {

// Weight classes of a border pixel: none, straight (1), diagonal (sqrt 2), mixed (their mean).
enum Pattern : uint8_t { kIsolated, kStraight, kDiagonal, kMixed, kPatterns };

// By the number of border pixels among the 4 side and the 4 corner neighbours (Benkrid and Crookes).
constexpr std::array<std::array<Pattern, 5>, 5> make_patterns() {
  std::array<std::array<Pattern, 5>, 5> table{};  // [sides][corners]
  table[2][0] = table[3][0] = table[2][1] = table[3][1] = table[2][2] = table[3][2] = kStraight;
  table[0][2] = table[1][3] = kDiagonal;
  table[1][1] = table[1][2] = kMixed;
  return table;
}
constexpr auto kPattern = make_patterns();

int64_t changes(const uint8_t* a, const uint8_t* b, int count) {
  int different = 0;  // a row is far below 2^31 pixels, and 32-bit sums vectorise better
  for (int x = 0; x < count; ++x) different += a[x] != b[x];
  return different;
}

}  // namespace

double tv_smoothness(const image::Mask& mask) {
  int64_t count = 0;
  for (int y = 0; y < mask.height; ++y) {
    count += changes(mask.row(y), mask.row(y) + 1, mask.width - 1);
    if (y + 1 < mask.height) count += changes(mask.row(y), mask.row(y + 1), mask.width);
  }
  return 1 - static_cast<double>(count) / static_cast<double>(mask.labels.size());
}

std::array<double, 256> perimeters(const image::Mask& mask) {
  const EdgeMap edges(mask, true, 1);
  const ptrdiff_t down = edges.stride();
  std::array<std::array<int64_t, kPatterns>, 256> counts{};
  edges.for_each_edge([&](const uint8_t* cell) {
    const uint8_t label = *cell;
    const auto same = [&](ptrdiff_t offset) { return static_cast<size_t>(cell[offset] == label); };
    const size_t sides = same(-1) + same(1) + same(-down) + same(down);
    const size_t corners = same(-down - 1) + same(-down + 1) + same(down - 1) + same(down + 1);
    ++counts[label][kPattern[sides][corners]];
  });
  std::array<double, 256> lengths{};
  for (size_t label = 0; label < lengths.size(); ++label) {
    const auto& count = counts[label];
    lengths[label] = static_cast<double>(count[kStraight]) +
                     static_cast<double>(count[kDiagonal]) * std::numbers::sqrt2 +
                     static_cast<double>(count[kMixed]) * (1 + std::numbers::sqrt2) / 2;
  }
  return lengths;
}

double compactness(int64_t area, double perimeter) {
  return std::min(1.0, 4 * std::numbers::pi * static_cast<double>(area) / (perimeter * perimeter));
}

}  // namespace crisp::metric
