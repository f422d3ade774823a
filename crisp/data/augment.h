#pragma once

#include <string>
#include <vector>

#include "crisp/base/random.h"
#include "crisp/data/feature_cache.h"
#include "crisp/image/image.h"

namespace crisp::data {

// One training example. Maps that a task does not use are empty; all others have the image's size, those of a network
// on a frozen encoder another, all the same.
struct Example {
  std::string id;
  image::Image image;
  image::Mask labels;       // 255 where unknown and on padding
  image::Mask uncertainty;  // of the labels, 0..255
  image::Mask padding;      // 255 on padding, 0 on the photo
  std::vector<int> tags;
  Features tokens;        // what a frozen encoder says of the photo, before any augmentation
  bool mirrored = false;  // by augmentation: `tokens` are not
  // What the segmentation loss wants to know of the labels; made after augmentation.
  image::Mask band;             // where their edges are
  std::vector<float> distance;  // to the nearest edge
};

// Random changes of an example, each with its own switch. Sizes are in pixels, probabilities 0..1.
struct AugmentOptions {
  int crop = 512;          // side of the square that comes out; 0 keeps the photo's own size
  double scale_low = 0.5;  // the photo is scaled by a random factor, equally likely in its logarithm
  double scale_high = 2.0;
  int short_side_low = 0;  // when set: the scaled short side lies between these two instead
  int short_side_high = 0;
  double flip = 0.5;
  double jitter = 0.8;                                                    // probability of changing colours at all
  double brightness = 0.3, contrast = 0.3, saturation = 0.3, hue = 0.05;  // most change of each
  double blur = 0.1;
  double blur_high = 2.0;  // deviation in pixels, from 0.1
  double grey = 0.05;
};

// Throws UsageError when an option makes no sense.
void check(const AugmentOptions& options);

// Scale and crop happen in one step: a box of the photo, its corners on whole pixels, becomes the crop. So
// labels and image agree exactly, and only what is kept is ever resized. Where the box leaves the photo, the image
// gets ImageNet's mean colour, the labels 255, `padding` 255.
Example augment(Example example, const AugmentOptions& options, Rng& rng);

}  // namespace crisp::data
