#include "crisp/metric/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/random.h"

namespace crisp::metric {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<int32_t> draw_counts(uint64_t seed, int64_t draw, size_t images) {
  std::vector<int32_t> counts(images, 0);
  Rng random(seed, static_cast<uint64_t>(draw));
  for (size_t i = 0; i < images; ++i) ++counts[static_cast<size_t>(random.below(static_cast<int64_t>(images)))];
  return counts;
}

std::optional<Interval> interval95(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Interval{quantile(values, 0.025), quantile(values, 0.975)};
}

}  // namespace crisp::metric
