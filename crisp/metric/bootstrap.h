#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace crisp::metric {

struct Interval {
  double low = 0, high = 0;

  bool operator==(const Interval&) const = default;
};

// How often each of `images` images occurs in bootstrap draw `draw`: `images` picks with replacement. A draw
// depends on the seed and its own number only, so threads do not change it, and two evaluations of the same
// images can be drawn alike.
std::vector<int32_t> draw_counts(uint64_t seed, int64_t draw, size_t images);

// 2.5 and 97.5 percentiles, interpolated between neighbours; empty without values. `values` may be in any order.
std::optional<Interval> interval95(std::vector<double> values);

}  // namespace crisp::metric
