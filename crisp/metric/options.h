#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crisp::metric {

// Every choice that can change a number. The defaults are those of docs/method.md.
struct Options {
  int classes = 21;                // K with the background: labels 0..K-1, at most 255
  int ignore = 255;                // truth label that is not scored; -1 for none
  double boundary_tolerance = 2;   // boundary F1: pixels within which two boundaries match
  double boundary_diagonal = 0;    // when positive, that tolerance is this fraction of the image's diagonal
  double band_diagonal = 0.02;     // boundary IoU: width of the band as a fraction of the diagonal
  int ece_bins = 15;               // equal bins of confidence between 0 and 1
  int small_object_pixels = 1024;  // an object is small below this
  int shape_min_pixels = 64;       // smaller masks take no part in compactness and edge regularity
  int bootstrap_draws = 1000;      // 0: no intervals
  uint64_t seed = 0;               // of the bootstrap

  // Groups that can be left out where only the mean IoU is wanted.
  bool boundary = true;  // boundary F1, boundary IoU
  bool shape = true;     // TV-smoothness, compactness, edge regularity
  bool small_objects = true;

  bool operator==(const Options&) const = default;
};

// Throws Error naming the first option out of its range.
void check(const Options& options);

// The same choices in words, a sentence a number, for every report.
std::vector<std::string> protocol(const Options& options);

}  // namespace crisp::metric
