#pragma once

#include <string>
#include <vector>

#include "crisp/data/seed_folder.h"
#include "crisp/image/image.h"

namespace crisp::seed {

// Class activation maps of one photo, each from 0 to 1.
struct Cams {
  int width = 0, height = 0;
  std::vector<int> classes;  // the photo's tags, ascending
  std::vector<float> maps;   // [classes, height, width]
  bool background = true;    // whether a pixel may be of none of them

  size_t pixels() const { return static_cast<size_t>(width) * static_cast<size_t>(height); }
};

// The score of the background, which no tag names: a constant, or (1 - max_k cam_k)^power.
struct Background {
  bool power = false;
  double value = 0.45;
};

// "0.45" or "power:4"; anything else is a UsageError.
Background parse_background(const std::string& text);
std::string to_string(const Background& background);

// How likely each label is at each pixel, over the background and the photo's tags alone.
struct Posterior {
  int width = 0, height = 0;
  std::vector<int> labels;           // ascending: the background, where there is one, and the tags
  std::vector<float> probabilities;  // [labels, height, width], summing to 1 at each pixel

  size_t pixels() const { return static_cast<size_t>(width) * static_cast<size_t>(height); }
};

// Background, where there is one, and maps divided by their sum; nothing is below 1e-5.
Posterior posterior(const Cams& cams, const Background& background);

// Divides by the sum at each pixel.
void normalise(Posterior& posterior);

// The likeliest label (the first of equals) and its uncertainty 1 - (p1 - p2), as levels 0..255.
data::Seed to_seed(const Posterior& posterior);

// The labels alone.
image::Mask best_labels(const Posterior& posterior);

}  // namespace crisp::seed
