#include "crisp/metric/score_image.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/image/distance.h"
#include "crisp/metric/boundary.h"
#include "crisp/metric/confusion.h"
#include "crisp/metric/contour.h"
#include "crisp/metric/shape.h"
#include "crisp/metric/small_objects.h"

namespace crisp::metric {
namespace {

void check_masks(const std::string& name, const image::Mask& truth, const image::Mask& prediction) {
  if (truth.width != prediction.width || truth.height != prediction.height) {
    throw Error("{}: the prediction is {}x{} but the truth is {}x{}; resize the prediction (nearest neighbour)", name,
                prediction.width, prediction.height, truth.width, truth.height);
  }
  if (truth.width <= 0 || truth.height <= 0) throw Error("{}: the mask is empty", name);
  const size_t pixels = static_cast<size_t>(truth.width) * static_cast<size_t>(truth.height);
  if (truth.labels.size() != pixels || prediction.labels.size() != pixels) {
    throw Error("{}: {} truth and {} predicted labels for {}x{} pixels", name, truth.labels.size(),
                prediction.labels.size(), truth.width, truth.height);
  }
}

// Entries for all K labels, so that later steps can index by label; empty ones are dropped at the end.
std::vector<ClassScores> count_classes(const Confusion& confusion) {
  std::vector<ClassScores> classes(static_cast<size_t>(confusion.classes()));
  for (int label = 0; label < confusion.classes(); ++label) {
    ClassScores& entry = classes[static_cast<size_t>(label)];
    entry.label = label;
    entry.truth = confusion.truth_pixels(label);
    entry.predicted = confusion.predicted_pixels(label);
    entry.hit = confusion.at(label, label);
  }
  return classes;
}

void score_boundaries(const image::Mask& truth, const image::Mask& prediction, const Confusion& confusion,
                      const Options& options, std::vector<ClassScores>& classes) {
  const double diagonal = std::sqrt(1.0 * truth.width * truth.width + 1.0 * truth.height * truth.height);
  const double tolerance =
      options.boundary_diagonal > 0 ? options.boundary_diagonal * diagonal : options.boundary_tolerance;
  const image::Mask filled = options.ignore < 0 ? truth : image::fill_void(truth, static_cast<uint8_t>(options.ignore));
  const auto matches = match_boundaries(filled, prediction, tolerance);
  const int band = band_width(truth.width, truth.height, options.band_diagonal);
  const auto overlaps = overlap_bands(truth, filled, prediction, options.ignore, band);
  for (ClassScores& entry : classes) {
    const size_t label = static_cast<size_t>(entry.label);
    entry.band_common = overlaps[label].common;
    entry.band_union = overlaps[label].either;
    if (entry.truth == 0) continue;
    entry.boundary_f1 = confusion.predicted_anywhere(entry.label) > 0 ? matches[label].f1() : 0.0;
  }
}

void score_shape(const image::Mask& prediction, const Confusion& confusion, const Options& options,
                 ImageScores& scores) {
  scores.tv_smoothness = tv_smoothness(prediction);
  std::array<bool, 256> wanted{};
  bool any = false;
  for (int label = 1; label < options.classes; ++label) {
    any |= wanted[static_cast<size_t>(label)] = confusion.predicted_anywhere(label) >= options.shape_min_pixels;
  }
  if (!any) return;
  const auto lengths = perimeters(prediction);
  const auto turns = contour_turns(prediction, wanted);
  for (int label = 1; label < options.classes; ++label) {
    const size_t i = static_cast<size_t>(label);
    if (!wanted[i]) continue;
    if (lengths[i] > 0) {
      ++scores.compactness.masks;
      scores.compactness.sum += compactness(confusion.predicted_anywhere(label), lengths[i]);
    }
    if (turns[i].points > 0) {
      ++scores.edge_regularity.masks;
      scores.edge_regularity.sum += static_cast<double>(turns[i].sharp) / static_cast<double>(turns[i].points);
    }
  }
}

}  // namespace

ImageScores score_image(const std::string& name, const image::Mask& truth, const image::Mask& prediction,
                        const Options& options, const Certainty& certainty) {
  check(options);
  check_masks(name, truth, prediction);
  const Confusion confusion = count_confusion(name, truth, prediction, options);

  ImageScores scores;
  scores.name = name;
  for (int row = 0; row < options.classes; ++row) {
    for (int column = 0; column <= options.classes; ++column) {
      const int64_t pixels = confusion.at(row, column);
      if (pixels > 0) scores.confusion.push_back({row, column, pixels});
    }
  }
  std::vector<ClassScores> classes = count_classes(confusion);
  if (options.boundary) score_boundaries(truth, prediction, confusion, options, classes);
  for (const ClassScores& entry : classes) {
    if (entry.truth > 0 || entry.predicted > 0) scores.classes.push_back(entry);
  }
  if (options.shape) score_shape(prediction, confusion, options, scores);
  if (options.small_objects) {
    const SmallObjects objects = find_small_objects(truth, prediction, options.ignore, options.small_object_pixels);
    scores.small_objects = objects.total;
    scores.small_objects_found = objects.found;
  }
  score_certainty(name, truth, prediction, certainty, options, scores);
  return scores;
}

}  // namespace crisp::metric
