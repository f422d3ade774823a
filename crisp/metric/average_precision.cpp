#include "crisp/metric/average_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace crisp::metric {

double average_precision(const std::vector<float>& scores, const std::vector<uint8_t>& positive) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  const auto all =
      static_cast<double>(std::count_if(positive.begin(), positive.end(), [](uint8_t p) { return p > 0; }));
  if (all == 0) return std::numeric_limits<double>::quiet_NaN();
  double area = 0, found = 0, found_before = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    found += positive[order[i]] > 0;
    const bool step_ends = i + 1 == order.size() || scores[order[i + 1]] != scores[order[i]];
    if (!step_ends) continue;
    area += (found - found_before) / all * (found / static_cast<double>(i + 1));
    found_before = found;
  }
  return area;
}

MeanAveragePrecision mean_average_precision(const std::vector<std::vector<float>>& scores,
                                            const std::vector<std::vector<uint8_t>>& positive) {
  MeanAveragePrecision mean;
  if (scores.empty()) return mean;
  for (size_t k = 0; k < scores[0].size(); ++k) {
    std::vector<float> column;
    std::vector<uint8_t> truth;
    for (size_t i = 0; i < scores.size(); ++i) {
      column.push_back(scores[i][k]);
      truth.push_back(positive[i][k]);
    }
    const double one = average_precision(column, truth);
    if (std::isnan(one)) continue;
    mean.value += one;
    ++mean.classes;
  }
  if (mean.classes > 0) mean.value /= mean.classes;
  return mean;
}

}  // namespace crisp::metric
