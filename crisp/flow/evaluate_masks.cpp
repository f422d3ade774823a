#include "crisp/flow/evaluate_masks.h"

#include <atomic>
#include <mutex>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/parallel.h"
#include "crisp/base/progress.h"
#include "crisp/base/text.h"
#include "crisp/image/resize.h"
#include "crisp/metric/score_image.h"

namespace crisp::flow {
namespace {

using Unlabelled = MaskOptions::Unlabelled;

data::MatchResult match(const Truth& truth, const MaskOptions& options) {
  data::MatchResult matched = data::match_masks(truth.masks, data::list_masks(options.predictions));
  const std::string folder = options.predictions.string();
  if (matched.missing.size() == truth.masks.size()) {
    throw Error("{}: none of its {} mask(s) has the name of a truth mask (such as '{}')", folder,
                matched.unmatched.size(), truth.masks[0].name);
  }
  if (!matched.missing.empty() && !options.missing_background) {
    throw Error("{}: {} of {} predictions are missing: {}; `--missing background` counts them as background", folder,
                matched.missing.size(), truth.masks.size(), join_some(matched.missing));
  }
  return matched;
}

bool is_seed_folder(const Path& folder) { return std::filesystem::is_regular_file(folder / "seeds.json"); }

// The regions' numbers alone.
metric::Options regions_only(metric::Options options) {
  options.boundary = options.shape = options.small_objects = false;
  return options;
}

struct Item {
  image::Mask truth, prediction;
};

class Scorer {
 public:
  Scorer(const Truth& truth, const MaskOptions& options)
      : truth_(truth),
        options_(options),
        metric_(with_classes(options.metric, truth.classes)),
        matched_(match(truth, options)),
        both_(options.unlabelled == Unlabelled::kBoth ||
              (options.unlabelled == Unlabelled::kAuto && is_seed_folder(options.predictions))),
        showcase_(kBestShown, kWorstShown),
        evaluation_{truth.classes, metric::Accumulator(metric_)} {
    if (both_) evaluation_.left_out.emplace(regions_only(metric_));
    if (both_ && metric_.ignore < 0) throw UsageError("--ignore -1: seeds cannot leave pixels out without it");
  }

  Evaluation run() {
    Progress progress("eval", static_cast<int64_t>(matched_.pairs.size()));
    parallel_for(static_cast<int64_t>(matched_.pairs.size()), options_.threads, [&](int64_t i) {
      score(static_cast<size_t>(i));
      progress.advance();
    });
    progress.finish();
    evaluation_.notes = truth_.notes;
    describe();
    evaluation_.examples = showcase_.take();
    add_example_photos(evaluation_.examples, truth_);
    return std::move(evaluation_);
  }

 private:
  // Both files, for messages about what is in them.
  std::string files(size_t i) const {
    const Path& prediction = matched_.pairs[i].prediction;
    return fmt::format("truth {}, prediction {}", truth_.masks[i].path.string(),
                       prediction.empty() ? "missing" : prediction.string());
  }

  Item read(size_t i) {
    Item item{truth_.read(i), {}};
    const Path& path = matched_.pairs[i].prediction;
    if (path.empty()) {
      item.prediction = image::Mask(item.truth.width, item.truth.height);
      return item;
    }
    item.prediction = image::read_mask(path, options_.reading);
    if (item.prediction.width == item.truth.width && item.prediction.height == item.truth.height) return item;
    if (!options_.resize_nearest) {
      throw Error("{}: the prediction is {}x{} but its truth {} is {}x{}; `--resize-pred nearest` resizes predictions",
                  path.string(), item.prediction.width, item.prediction.height, truth_.masks[i].path.string(),
                  item.truth.width, item.truth.height);
    }
    item.prediction = image::resize_nearest(item.prediction, item.truth.width, item.truth.height);
    ++resized_;
    return item;
  }

  // In `prediction` ignored pixels become background, in `truth` they become ignored.
  void split_ignored(Item& kept, image::Mask& truth_left) const {
    for (size_t p = 0; p < truth_left.labels.size(); ++p) {
      if (!is_unlabelled(kept.prediction.labels[p])) continue;
      kept.prediction.labels[p] = 0;
      truth_left.labels[p] = static_cast<uint8_t>(metric_.ignore);
    }
  }

  bool is_unlabelled(uint8_t label) const {
    return label >= metric_.classes && (label == image::kIgnore || label == metric_.ignore);
  }

  void score(size_t i) {
    Item item = read(i);
    const std::string& name = truth_.masks[i].name;
    int64_t ignored = 0;
    for (const uint8_t label : item.prediction.labels) ignored += is_unlabelled(label);
    const image::Mask shown = both_ ? item.prediction : image::Mask();
    try {
      std::optional<metric::ImageScores> left_out;
      if (both_) {
        image::Mask truth_left = item.truth;
        split_ignored(item, truth_left);
        left_out = metric::score_image(name, truth_left, item.prediction, evaluation_.left_out->options());
      }
      metric::ImageScores scores = metric::score_image(name, item.truth, item.prediction, metric_);
      const std::optional<double> miou = metric::image_headline(scores, metric_).miou;
      if (miou) {
        showcase_.offer(name, *miou, [&] { return report::make_example(item.truth, both_ ? shown : item.prediction); });
      }
      const std::lock_guard lock(mutex_);
      evaluation_.scores.add(std::move(scores));
      if (left_out) evaluation_.left_out->add(std::move(*left_out));
      evaluation_.ignored_pixels += ignored;
      evaluation_.pixels += static_cast<int64_t>(item.truth.labels.size());
    } catch (const Error& error) {
      throw Error("{} ({})", error.what(), files(i));
    }
  }

  void describe() {
    std::vector<std::string>& notes = evaluation_.notes;
    const size_t count = matched_.pairs.size();
    if (resized_ > 0) {
      notes.push_back(
          fmt::format("resized: {} of {} predictions were brought to the size of their truth (nearest "
                      "neighbour)",
                      resized_.load(), count));
    }
    if (!matched_.missing.empty()) {
      notes.push_back(fmt::format("missing: {} of {} predictions are not there and count as background: {}",
                                  matched_.missing.size(), count, join_some(matched_.missing)));
      log_warning("{}", notes.back());
    }
    if (!matched_.unmatched.empty()) {
      log_info("{} prediction(s) belong to no truth and were left alone: {}", matched_.unmatched.size(),
               join_some(matched_.unmatched, 4));
    }
    const double share = 100.0 * static_cast<double>(evaluation_.ignored_pixels) /
                         static_cast<double>(std::max<int64_t>(1, evaluation_.pixels));
    if (both_) {
      notes.push_back(
          fmt::format("unlabelled: ignored seed pixels (255, {:.2f}% of all) count as background in the main numbers; "
                      "`ignored_left_out` gives the regions' numbers over the other pixels alone",
                      share));
    } else if (evaluation_.ignored_pixels > 0) {
      log_warning(
          "{:.2f}% of the predicted pixels have no class (255) and count as misses; seeds are scored both ways "
          "with `--unlabelled both`",
          share);
    }
  }

  const Truth& truth_;
  const MaskOptions& options_;
  const metric::Options metric_;
  const data::MatchResult matched_;
  const bool both_;
  std::atomic<int64_t> resized_{0};
  report::Showcase showcase_;
  std::mutex mutex_;
  Evaluation evaluation_;
};

}  // namespace

Evaluation evaluate_masks(const Truth& truth, const MaskOptions& options) { return Scorer(truth, options).run(); }

}  // namespace crisp::flow
