#include "crisp/metric/totals.h"

#include <algorithm>
#include <cmath>

namespace crisp::metric {
namespace {

std::optional<double> ratio(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

std::optional<double> ratio(int64_t part, int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

std::optional<double> mean(const MaskSum& sum) { return ratio(sum.sum, static_cast<double>(sum.masks)); }

std::optional<double> percent(std::optional<double> share) {
  if (!share) return std::nullopt;
  return 100 * *share;
}

// Mean of a per-class number over the classes that have it, in percent.
std::optional<double> class_mean(const std::vector<ClassTotals>& classes,
                                 std::optional<double> (ClassTotals::*number)() const) {
  double sum = 0;
  int count = 0;
  for (const ClassTotals& entry : classes) {
    const std::optional<double> value = (entry.*number)();
    if (!value) continue;
    sum += *value;
    ++count;
  }
  return percent(ratio(sum, count));
}

std::optional<double> expected_calibration_error(const std::vector<ConfidenceBin>& bins) {
  double gaps = 0;
  int64_t pixels = 0;
  for (const ConfidenceBin& bin : bins) {
    gaps += std::abs(static_cast<double>(bin.correct) - bin.confidence);
    pixels += bin.pixels;
  }
  return percent(ratio(gaps, static_cast<double>(pixels)));
}

void add_masks(MaskSum& sum, const MaskSum& image, int64_t times) {
  sum.masks += times * image.masks;
  sum.sum += static_cast<double>(times) * image.sum;
}

}  // namespace

std::optional<double> ClassTotals::iou() const {
  if (truth == 0) return std::nullopt;
  return ratio(hit, truth + predicted - hit);
}

std::optional<double> ClassTotals::dice() const {
  if (truth == 0) return std::nullopt;
  return ratio(2 * hit, truth + predicted);
}

std::optional<double> ClassTotals::accuracy() const { return ratio(hit, truth); }

std::optional<double> ClassTotals::boundary_f1() const {
  return ratio(boundary_f1_sum, static_cast<double>(boundary_images));
}

std::optional<double> ClassTotals::boundary_iou() const {
  if (truth == 0) return std::nullopt;
  return ratio(band_common, band_union);
}

Totals::Totals(const Options& options) : classes_(static_cast<size_t>(options.classes)) {}

void Totals::clear() {
  std::fill(classes_.begin(), classes_.end(), ClassTotals{});
  bins_.clear();
  probability_pixels_ = small_objects_ = small_objects_found_ = 0;
  brier_ = nll_ = 0;
  tv_smoothness_ = compactness_ = edge_regularity_ = {};
}

void Totals::add(const ImageScores& image, int64_t times) {
  for (const ClassScores& entry : image.classes) {
    ClassTotals& sum = classes_[static_cast<size_t>(entry.label)];
    sum.truth += times * entry.truth;
    sum.predicted += times * entry.predicted;
    sum.hit += times * entry.hit;
    sum.band_common += times * entry.band_common;
    sum.band_union += times * entry.band_union;
    if (!entry.boundary_f1) continue;
    sum.boundary_images += times;
    sum.boundary_f1_sum += static_cast<double>(times) * *entry.boundary_f1;
  }
  if (bins_.size() < image.bins.size()) bins_.resize(image.bins.size());
  for (size_t i = 0; i < image.bins.size(); ++i) {
    bins_[i].pixels += times * image.bins[i].pixels;
    bins_[i].correct += times * image.bins[i].correct;
    bins_[i].confidence += static_cast<double>(times) * image.bins[i].confidence;
  }
  probability_pixels_ += times * image.probability_pixels;
  brier_ += static_cast<double>(times) * image.brier;
  nll_ += static_cast<double>(times) * image.nll;
  if (image.tv_smoothness) add_masks(tv_smoothness_, {1, *image.tv_smoothness}, times);
  add_masks(compactness_, image.compactness, times);
  add_masks(edge_regularity_, image.edge_regularity, times);
  small_objects_ += times * image.small_objects;
  small_objects_found_ += times * image.small_objects_found;
}

Headline Totals::headline() const {
  int64_t truth = 0, hit = 0;
  for (const ClassTotals& entry : classes_) truth += entry.truth, hit += entry.hit;
  Headline numbers;
  numbers.miou = class_mean(classes_, &ClassTotals::iou);
  numbers.mdice = class_mean(classes_, &ClassTotals::dice);
  numbers.pixel_accuracy = percent(ratio(hit, truth));
  numbers.mean_accuracy = class_mean(classes_, &ClassTotals::accuracy);
  numbers.boundary_f1 = class_mean(classes_, &ClassTotals::boundary_f1);
  numbers.boundary_iou = class_mean(classes_, &ClassTotals::boundary_iou);
  numbers.ece = expected_calibration_error(bins_);
  numbers.small_object_recall = percent(ratio(small_objects_found_, small_objects_));
  numbers.brier = ratio(brier_, static_cast<double>(probability_pixels_));
  numbers.nll = ratio(nll_, static_cast<double>(probability_pixels_));
  numbers.tv_smoothness = mean(tv_smoothness_);
  numbers.compactness = mean(compactness_);
  numbers.edge_regularity = mean(edge_regularity_);
  return numbers;
}

}  // namespace crisp::metric
