#include "crisp/metric/options.h"

#include <cmath>

#include "crisp/base/error.h"

namespace crisp::metric {
namespace {

void require(bool holds, const char* name, const std::string& value, const char* range) {
  if (!holds) throw Error("metric option {}: {} is out of range, give {}", name, value, range);
}

// A pixel distance or a fraction: finite (NaN fails every comparison) and within bounds.
bool between(double value, double low, double high) { return value >= low && value <= high; }

std::string tolerance_text(const Options& options) {
  if (options.boundary_diagonal > 0) return fmt::format("{}% of the image's diagonal", 100 * options.boundary_diagonal);
  return fmt::format("{} pixels", options.boundary_tolerance);
}

}  // namespace

void check(const Options& o) {
  require(o.classes >= 1 && o.classes <= 255, "classes", std::to_string(o.classes), "1 to 255");
  require(o.ignore >= -1 && o.ignore <= 255, "ignore", std::to_string(o.ignore), "0 to 255, or -1 for none");
  require(between(o.boundary_tolerance, 0, 1000), "boundary_tolerance", fmt::format("{}", o.boundary_tolerance),
          "0 to 1000 pixels");
  require(between(o.boundary_diagonal, 0, 1), "boundary_diagonal", fmt::format("{}", o.boundary_diagonal), "0 to 1");
  require(between(o.band_diagonal, 0, 1), "band_diagonal", fmt::format("{}", o.band_diagonal), "0 to 1");
  require(o.ece_bins >= 1 && o.ece_bins <= 1000, "ece_bins", std::to_string(o.ece_bins), "1 to 1000");
  require(o.small_object_pixels >= 1, "small_object_pixels", std::to_string(o.small_object_pixels), "1 or more");
  require(o.shape_min_pixels >= 1, "shape_min_pixels", std::to_string(o.shape_min_pixels), "1 or more");
  require(o.bootstrap_draws >= 0 && o.bootstrap_draws <= 1'000'000, "bootstrap_draws",
          std::to_string(o.bootstrap_draws), "0 to 1000000");
}

std::vector<std::string> protocol(const Options& o) {
  std::vector<std::string> lines;
  const auto say = [&](std::string line) { lines.push_back(std::move(line)); };
  say(fmt::format("classes: {} with the background, which takes part in every mean", o.classes));
  say(o.ignore < 0 ? std::string("ignore: none, every truth pixel is scored")
                   : fmt::format("ignore: truth pixels of label {} are not scored", o.ignore));
  say("unlabelled: a predicted pixel without a class (255 or the ignore label) counts as a miss, never as ignored");
  say("miou, mdice, mean_accuracy: one 64-bit confusion matrix over the set, mean over the classes that occur in the "
      "truth; percent");
  say("pixel_accuracy: correct pixels over scored pixels of the set; percent");
  if (o.boundary) {
    say(
        fmt::format("boundary_f1: ignored truth filled with the nearest label (Euclidean, ties to the smallest), "
                    "prediction left alone; boundary = pixels with a 4-neighbour of another class, the image frame not "
                    "counted; matched within {} (Euclidean); each image and class of its truth, 0 where the class is "
                    "not predicted; mean over images, then over classes; percent",
                    tolerance_text(o)));
    say(
        fmt::format("boundary_iou: IoU of bands inside each class mask, round({}% of the diagonal) pixels wide (at "
                    "least 1; chessboard distance, the image frame counts as contour), ignored truth filled to draw "
                    "the band and not counted, summed over the set, mean over the classes of the truth; percent",
                    100 * o.band_diagonal));
  }
  say(
      fmt::format("ece: top-label confidence of all scored pixels pooled, {} equal bins [low, high), 1 in the last; "
                  "percent",
                  o.ece_bins));
  say("brier, nll: mean over scored pixels, Brier as the sum over classes of squared errors (0 to 2), "
      "probabilities under 1e-12 raised to it in the logarithm");
  if (o.shape) {
    say("tv_smoothness: 1 - (right and down label changes of the prediction) / (H W), mean over images");
    say(
        fmt::format("compactness: 4 pi area / perimeter^2, at most 1 (perimeter as scikit-image's with 4 neighbours); "
                    "mean over the predicted (image, foreground class) masks of at least {} pixels, whole mask at "
                    "once; masks whose perimeter is 0 left out",
                    o.shape_min_pixels));
    say("edge_regularity: share of contour points that turn by more than 1 rad between the 3 points before and the 3 "
        "after; closed contours at level 0.5 (diagonal pixels not joined), the repeated closing point dropped, "
        "contours "
        "under 7 points left out; mean over the same masks; lower is smoother");
  }
  if (o.small_objects) {
    say(
        fmt::format("small_object_recall: 8-connected truth components of one foreground class under {} pixels, "
                    "found when at least half of their pixels have the class; percent of all in the set",
                    o.small_object_pixels));
  }
  if (o.bootstrap_draws > 0) {
    say(fmt::format("ci95: 2.5 and 97.5 percentiles of {} bootstrap draws over images, seed {}", o.bootstrap_draws,
                    o.seed));
  }
  return lines;
}

}  // namespace crisp::metric
