#include "crisp/metric/accumulator.h"

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/metric/totals.h"

namespace crisp::metric {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 55;  // of a whole set, with room to merge

std::optional<double> percent(std::optional<double> share) {
  if (!share) return std::nullopt;
  return 100 * *share;
}

std::vector<ClassRow> class_table(const Totals& totals) {
  std::vector<ClassRow> rows;
  for (const ClassTotals& entry : totals.classes()) {
    rows.push_back({static_cast<int>(rows.size()), percent(entry.iou()), percent(entry.dice()),
                    percent(entry.accuracy()), percent(entry.boundary_f1()), percent(entry.boundary_iou()),
                    entry.truth});
  }
  return rows;
}

std::vector<ReliabilityPoint> reliability_curve(const Totals& totals) {
  std::vector<ReliabilityPoint> points;
  const double count = static_cast<double>(totals.bins().size());
  for (const ConfidenceBin& bin : totals.bins()) {
    const double place = static_cast<double>(points.size()), pixels = static_cast<double>(bin.pixels);
    ReliabilityPoint point{place / count, (place + 1) / count, bin.pixels, {}, {}};
    if (bin.pixels > 0) point.confidence = bin.confidence / pixels;
    if (bin.pixels > 0) point.accuracy = static_cast<double>(bin.correct) / pixels;
    points.push_back(point);
  }
  return points;
}

std::map<std::string, Interval> intervals(const std::vector<const ImageScores*>& images, const Options& options,
                                          int threads) {
  std::vector<Headline> draws(static_cast<size_t>(options.bootstrap_draws));
  parallel_for(options.bootstrap_draws, threads, [&](int64_t draw) {
    const std::vector<int32_t> counts = draw_counts(options.seed, draw, images.size());
    Totals totals(options);
    for (size_t i = 0; i < images.size(); ++i) {
      if (counts[i] > 0) totals.add(*images[i], counts[i]);
    }
    draws[static_cast<size_t>(draw)] = totals.headline();
  });
  std::map<std::string, Interval> found;
  for (const HeadlineField& field : kHeadline) {
    std::vector<double> values;  // a draw may miss the images that make a number computable
    for (const Headline& draw : draws) {
      if (draw.*field.value) values.push_back(*(draw.*field.value));
    }
    if (const auto interval = interval95(std::move(values))) found.emplace(field.name, *interval);
  }
  return found;
}

}  // namespace

Accumulator::Accumulator(const Options& options) : options_(options) {
  check(options);
  const size_t classes = static_cast<size_t>(options.classes);
  confusion_.assign(classes, std::vector<int64_t>(classes + 1, 0));
}

void Accumulator::add(ImageScores image) {
  for (const ClassScores& entry : image.classes) {
    if (entry.label < 0 || entry.label >= options_.classes) {
      throw Error("{}: class {} was scored, but there are {} classes", image.name, entry.label, options_.classes);
    }
  }
  for (const ConfusionCount& entry : image.confusion) {
    if (entry.truth < 0 || entry.truth >= options_.classes || entry.predicted < 0 ||
        entry.predicted > options_.classes) {
      throw Error("{}: classes {} and {} were scored, but there are {} classes", image.name, entry.truth,
                  entry.predicted, options_.classes);
    }
  }
  if (images_.contains(image.name))
    throw Error("{}: the image occurs twice; give every image a name of its own", image.name);
  for (const ConfusionCount& entry : image.confusion) {
    confusion_[static_cast<size_t>(entry.truth)][static_cast<size_t>(entry.predicted)] += entry.pixels;
  }
  image.confusion = {};
  image.classes.shrink_to_fit();
  std::string name = image.name;
  images_.emplace(std::move(name), std::move(image));
}

void Accumulator::merge(const Accumulator& other) {
  if (!(options_ == other.options_)) {
    throw Error("two evaluations with different options cannot be merged; evaluate both in the same way");
  }
  for (const auto& [name, image] : other.images_) {
    if (images_.contains(name)) throw Error("{}: the image is in both evaluations to be merged", name);
  }
  images_.insert(other.images_.begin(), other.images_.end());
  for (size_t row = 0; row < confusion_.size(); ++row) {
    for (size_t column = 0; column < confusion_[row].size(); ++column) {
      confusion_[row][column] += other.confusion_[row][column];
    }
  }
}

void Accumulator::set_confusion(std::vector<std::vector<int64_t>> matrix) {
  bool sound = matrix.size() == confusion_.size();
  for (const std::vector<int64_t>& row : matrix) {
    sound &= row.size() == confusion_.size() + 1;
    for (const int64_t pixels : row) sound &= pixels >= 0 && pixels <= kMostPixels;
  }
  if (!sound) throw Error("the confusion matrix is not {} by {} counts", confusion_.size(), confusion_.size() + 1);
  confusion_ = std::move(matrix);
}

Metrics Accumulator::finish(int threads) const {
  Totals totals(options_);
  std::vector<const ImageScores*> images;
  for (const auto& [name, image] : images_) {
    totals.add(image);
    images.push_back(&image);
  }
  Metrics metrics;
  static_cast<Headline&>(metrics) = totals.headline();
  metrics.images = static_cast<int64_t>(images.size());
  metrics.per_class = class_table(totals);
  metrics.confusion = confusion_;
  metrics.reliability = reliability_curve(totals);
  metrics.protocol = protocol(options_);
  if (!images.empty()) metrics.ci95 = intervals(images, options_, threads > 0 ? threads : available_cores());
  return metrics;
}

Headline image_headline(const ImageScores& image, const Options& options) {
  Totals totals(options);
  totals.add(image);
  return totals.headline();
}

}  // namespace crisp::metric
