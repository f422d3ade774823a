#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crisp/metric/headline.h"
#include "crisp/metric/options.h"
#include "crisp/metric/scores.h"

namespace crisp::metric {

// Sums of one class over a set of images, and the numbers they give.
struct ClassTotals {
  int64_t truth = 0, predicted = 0, hit = 0;
  int64_t band_common = 0, band_union = 0;
  int64_t boundary_images = 0;
  double boundary_f1_sum = 0;

  // 0..1; empty when the class does not occur in the truth.
  std::optional<double> iou() const;
  std::optional<double> dice() const;
  std::optional<double> accuracy() const;
  std::optional<double> boundary_f1() const;
  std::optional<double> boundary_iou() const;
};

// Sums over a multiset of images. One image, the whole set and every bootstrap draw go through the same
// code: add what belongs to it, then ask for the headline. Sums depend on the order of add() in their last
// bits, so callers add in the order of names.
class Totals {
 public:
  explicit Totals(const Options& options);

  void clear();
  void add(const ImageScores& image, int64_t times = 1);
  Headline headline() const;

  const std::vector<ClassTotals>& classes() const { return classes_; }
  const std::vector<ConfidenceBin>& bins() const { return bins_; }

 private:
  std::vector<ClassTotals> classes_;
  std::vector<ConfidenceBin> bins_;
  int64_t probability_pixels_ = 0;
  double brier_ = 0, nll_ = 0;
  MaskSum tv_smoothness_, compactness_, edge_regularity_;
  int64_t small_objects_ = 0, small_objects_found_ = 0;
};

}  // namespace crisp::metric
