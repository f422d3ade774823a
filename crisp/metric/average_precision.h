#pragma once

#include <cstdint>
#include <vector>

namespace crisp::metric {

// Area under the precision-recall curve as a sum of steps, sum_n (R_n - R_{n-1}) P_n over falling thresholds; equal
// scores form one step (scikit-learn's average_precision_score). NaN when nothing is positive.
double average_precision(const std::vector<float>& scores, const std::vector<uint8_t>& positive);

// The mean over classes that occur, of scores and positives [images][classes]; with the number of classes it is
// made of.
struct MeanAveragePrecision {
  double value = 0;  // 0 to 1
  int classes = 0;
};
MeanAveragePrecision mean_average_precision(const std::vector<std::vector<float>>& scores,
                                            const std::vector<std::vector<uint8_t>>& positive);

}  // namespace crisp::metric
