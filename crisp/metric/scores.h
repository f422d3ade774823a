#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crisp::metric {

// One class in one image. Pixel counts are over scored pixels (truth not ignored).
struct ClassScores {
  int label = 0;
  int64_t truth = 0;      // pixels of the class in the truth
  int64_t predicted = 0;  // in the prediction
  int64_t hit = 0;        // in both
  int64_t band_common = 0;
  int64_t band_union = 0;
  std::optional<double> boundary_f1;  // 0..1, where the class occurs in the truth

  bool operator==(const ClassScores&) const = default;
};

// Pixels of one truth label and one predicted label; `predicted` is K for pixels without a class.
struct ConfusionCount {
  int truth = 0;
  int predicted = 0;
  int64_t pixels = 0;

  bool operator==(const ConfusionCount&) const = default;
};

// One bin of the reliability curve, as sums.
struct ConfidenceBin {
  int64_t pixels = 0;
  int64_t correct = 0;
  double confidence = 0;

  bool operator==(const ConfidenceBin&) const = default;
};

// A sum of per-mask values and how many there were.
struct MaskSum {
  int64_t masks = 0;
  double sum = 0;

  bool operator==(const MaskSum&) const = default;
};

// Everything the set's numbers need to know about one image, without its pixels: about 0.3 KB, and 64 bytes a
// class and 24 a bin (a VOC image with confidences: 0.9 KB; 40,000 of COCO: under 50 MB).
struct ImageScores {
  std::string name;
  std::vector<ClassScores> classes;       // classes of the truth or the prediction, by label
  std::vector<ConfusionCount> confusion;  // non-zero entries, by truth then prediction
  std::vector<ConfidenceBin> bins;        // empty without confidences
  int64_t probability_pixels = 0;         // scored pixels that had full probabilities
  double brier = 0;                       // sums over those
  double nll = 0;
  std::optional<double> tv_smoothness;
  MaskSum compactness;
  MaskSum edge_regularity;
  int64_t small_objects = 0;
  int64_t small_objects_found = 0;

  bool operator==(const ImageScores&) const = default;
};

}  // namespace crisp::metric
