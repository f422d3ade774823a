#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "crisp/image/image.h"

namespace crisp::report {

// An image to look at, shrunk to a thumbnail: every part has one size; parts that are not known are empty.
struct Example {
  std::string name;
  double score = 0;  // mean IoU of the image's own classes, percent
  image::Image photo;
  image::Mask truth, prediction;
  image::Mask uncertainty;  // levels, 0 sure to 255 unsure
};

struct Examples {
  std::vector<Example> worst, best;  // worst first; best first
};

// Chooses the images to show while an evaluation runs, so that only they are ever kept: the best `best` by
// score and the worst `worst`; equal scores by name, so that threads do not change the choice.
class Showcase {
 public:
  Showcase(size_t best, size_t worst) : best_(best), worst_(worst) {}

  // `make` is called only for an image that is among the best or worst so far. Safe from any thread.
  void offer(const std::string& name, double score, const std::function<Example()>& make);

  // No image is in both lists. Empties the showcase.
  Examples take();

 private:
  using Key = std::pair<double, std::string>;
  bool wanted(const Key& key) const;

  const size_t best_, worst_;
  std::mutex mutex_;
  std::map<Key, Example> kept_;  // by score, then name: the worst at the front, the best at the back
};

// Largest side of a thumbnail, and the size that an image gets.
constexpr int kThumbnail = 288;
struct ThumbnailSize {
  int width, height;
};
ThumbnailSize thumbnail_size(int width, int height);

// Masks of one size to an example without photo. `uncertainty` may be empty.
Example make_example(const image::Mask& truth, const image::Mask& prediction, const image::Mask& uncertainty = {});

}  // namespace crisp::report
