#include "crisp/report/showcase.h"

#include <algorithm>
#include <iterator>

#include "crisp/image/resize.h"

namespace crisp::report {

bool Showcase::wanted(const Key& key) const {
  if (kept_.size() < best_ + worst_) return true;
  // The first of the best and the last of the worst so far; they are neighbours in the map.
  const auto border = std::next(kept_.begin(), static_cast<std::ptrdiff_t>(worst_));
  const bool among_worst = worst_ > 0 && key < std::prev(border)->first;
  const bool among_best = best_ > 0 && border->first < key;
  return among_worst || among_best;
}

void Showcase::offer(const std::string& name, double score, const std::function<Example()>& make) {
  const Key key{score, name};
  {
    const std::lock_guard lock(mutex_);
    if (!wanted(key)) return;
  }
  Example example = make();  // the slow part, outside the lock
  example.name = name;
  example.score = score;
  const std::lock_guard lock(mutex_);
  if (!wanted(key)) return;
  kept_.emplace(key, std::move(example));
  if (kept_.size() <= best_ + worst_) return;
  kept_.erase(std::next(kept_.begin(), static_cast<std::ptrdiff_t>(worst_)));  // one that is neither any more
}

Examples Showcase::take() {
  const std::lock_guard lock(mutex_);
  Examples chosen;
  const size_t best = std::min(best_, kept_.size());
  for (auto& [key, example] : kept_) {
    auto& list = chosen.worst.size() + best < kept_.size() ? chosen.worst : chosen.best;
    list.push_back(std::move(example));
  }
  std::reverse(chosen.best.begin(), chosen.best.end());
  kept_.clear();
  return chosen;
}

ThumbnailSize thumbnail_size(int width, int height) {
  const double scale = std::min(1.0, static_cast<double>(kThumbnail) / std::max(width, height));
  const auto side = [&](int size) { return std::max(1, static_cast<int>(scale * size + 0.5)); };
  return {side(width), side(height)};
}

Example make_example(const image::Mask& truth, const image::Mask& prediction, const image::Mask& uncertainty) {
  const auto [width, height] = thumbnail_size(truth.width, truth.height);
  Example example;
  example.truth = image::resize_nearest(truth, width, height);
  example.prediction = image::resize_nearest(prediction, width, height);
  if (uncertainty.width > 0) example.uncertainty = image::resize_nearest(uncertainty, width, height);
  return example;
}

}  // namespace crisp::report
