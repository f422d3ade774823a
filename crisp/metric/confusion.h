#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "crisp/image/image.h"
#include "crisp/metric/options.h"

namespace crisp::metric {

// Pixel counts of one image by truth row and predicted column. Row K holds the ignored truth, column K the
// pixels without a predicted class.
class Confusion {
 public:
  explicit Confusion(int classes)
      : classes_(classes), counts_(static_cast<size_t>(classes + 1) * static_cast<size_t>(classes + 1)) {}

  int64_t& at(int truth, int predicted) { return counts_[index(truth, predicted)]; }
  int64_t at(int truth, int predicted) const { return counts_[index(truth, predicted)]; }
  int classes() const { return classes_; }

  // Pixels of a class over the scored truth, or over the whole prediction.
  int64_t truth_pixels(int label) const;
  int64_t predicted_pixels(int label) const;  // scored pixels only
  void add(const Confusion& more);            // of another image, with as many classes
  double mean_iou() const;                    // percent, over the classes that occur in the truth
  int64_t predicted_anywhere(int label) const { return predicted_pixels(label) + at(classes_, label); }

 private:
  size_t index(int truth, int predicted) const {
    return static_cast<size_t>(truth) * static_cast<size_t>(classes_ + 1) + static_cast<size_t>(predicted);
  }
  int classes_;
  std::vector<int64_t> counts_;
};

// Counts every pixel. Both masks must have one size. A label that is neither a class nor ignored is an Error
// that names `name`, the label and its place.
Confusion count_confusion(const std::string& name, const image::Mask& truth, const image::Mask& prediction,
                          const Options& options);

}  // namespace crisp::metric
