#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crisp/metric/bootstrap.h"
#include "crisp/metric/headline.h"
#include "crisp/metric/options.h"
#include "crisp/metric/scores.h"

namespace crisp::metric {

// A row of the per-class table: percent, empty where the class does not occur in the truth.
struct ClassRow {
  int label = 0;
  std::optional<double> iou, dice, accuracy, boundary_f1, boundary_iou;
  int64_t pixels = 0;  // of the truth

  bool operator==(const ClassRow&) const = default;
};

// A point of the reliability curve; mean confidence and accuracy are 0..1, empty without pixels.
struct ReliabilityPoint {
  double low = 0, high = 0;
  int64_t pixels = 0;
  std::optional<double> confidence, accuracy;

  bool operator==(const ReliabilityPoint&) const = default;
};

// The finished evaluation.
struct Metrics : Headline {
  int64_t images = 0;
  std::map<std::string, Interval> ci95;         // by headline name
  std::vector<ClassRow> per_class;              // K rows
  std::vector<std::vector<int64_t>> confusion;  // [truth K][predicted K + 1], the last column without a class
  std::vector<ReliabilityPoint> reliability;    // empty without confidences
  std::vector<std::string> protocol;

  bool operator==(const Metrics&) const = default;
};

// Collects images, in any order and from any number of processes: accumulate, merge, finish. Keeps per-image
// sums only (see ImageScores) and one K x (K + 1) matrix. Finishing adds in the order of names, so halves
// merged equal one pass bit for bit.
class Accumulator {
 public:
  explicit Accumulator(const Options& options);

  // Throws Error for a name that is there already or a label outside the classes.
  void add(ImageScores image);
  // Throws Error when the options differ or an image is in both.
  void merge(const Accumulator& other);
  // Numbers, tables and intervals; `threads` (0: all cores) share the bootstrap and do not change it.
  Metrics finish(int threads = 0) const;

  const Options& options() const { return options_; }
  // By name; their `confusion` is empty, it was added to the matrix.
  const std::map<std::string, ImageScores>& images() const { return images_; }
  const std::vector<std::vector<int64_t>>& confusion() const { return confusion_; }
  void set_confusion(std::vector<std::vector<int64_t>> matrix);  // for reading back a stored accumulator

 private:
  Options options_;
  std::map<std::string, ImageScores> images_;
  std::vector<std::vector<int64_t>> confusion_;
};

// The numbers of one image alone: a row of the per-image table.
Headline image_headline(const ImageScores& image, const Options& options);

}  // namespace crisp::metric
