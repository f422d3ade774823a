#include "crisp/flow/evaluate_model.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/text.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "crisp/image/heat_map.h"
#include "crisp/image/resize.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/metric/score_image.h"
#include "crisp/ops/bilinear.h"

namespace crisp::flow {
namespace {

struct Scored {
  metric::ImageScores scores;
  int64_t pixels = 0;
};

std::vector<float> to_vector(const torch::Tensor& values) {
  const torch::Tensor flat = values.contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

// The uncertainty map as 8-bit levels at the size of the image.
image::Mask levels(const torch::Tensor& map, int width, int height) {
  const int w = static_cast<int>(map.size(1)), h = static_cast<int>(map.size(0));
  std::vector<float> values = to_vector(map.to(torch::kFloat));
  if (w != width || h != height) values = image::resize_map(values, w, h, width, height);
  return image::to_levels(values, width, height);
}

class Scorer {
 public:
  Scorer(const Truth& truth, const ModelOptions& options, const metric::Options& metric, report::Showcase& showcase)
      : truth_(truth), options_(options), metric_(metric), showcase_(showcase) {}

  Scored score(size_t index, const infer::Result& result) const {
    const std::string& name = truth_.masks[index].name;
    const image::Mask truth = truth_.read(index);
    const image::Mask& labels = result.labels;
    if (truth.width != labels.width || truth.height != labels.height) {
      throw Error("{}: the mask is {}x{} but its photo {} is {}x{}", truth_.masks[index].path.string(), truth.width,
                  truth.height, truth_.photos[index].string(), labels.width, labels.height);
    }
    try {
      std::vector<float> probabilities;
      if (options_.certainty) probabilities = probabilities_of(result);
      Scored scored{metric::score_image(name, truth, labels, metric_, {.probabilities = probabilities}),
                    static_cast<int64_t>(truth.labels.size())};
      save(name, result);
      if (const auto miou = metric::image_headline(scored.scores, metric_).miou) {
        showcase_.offer(name, *miou, [&] {
          return report::make_example(truth, labels, levels(result.uncertainty, labels.width, labels.height));
        });
      }
      return scored;
    } catch (const Error& error) {
      throw Error("{} (truth {}, photo {})", error.what(), truth_.masks[index].path.string(),
                  truth_.photos[index].string());
    }
  }

 private:
  static std::vector<float> probabilities_of(const infer::Result& result) {
    if (!result.probabilities.defined()) {
      return full_probabilities(result.logits, result.labels.height, result.labels.width);
    }
    std::vector<float> values = to_vector(result.probabilities);
    for (float& value : values) value = std::min(value, 1.0f);  // the mean of several can round to a bit above
    return values;
  }

  void save(const std::string& name, const infer::Result& result) const {
    const auto path = [&](const char* kind) {
      const Path file = options_.out / kind / (name + ".png");
      make_folder(file.parent_path());
      return file;
    };
    if (options_.save.contains("mask")) image::write_mask_png(path("mask"), result.labels);
    if (options_.save.contains("uncertainty")) {
      image::write_rgb_png(path("uncertainty"),
                           image::heat_map(levels(result.uncertainty, result.labels.width, result.labels.height)));
    }
  }

  const Truth& truth_;
  const ModelOptions& options_;
  const metric::Options& metric_;
  report::Showcase& showcase_;
};

}  // namespace

void check_classes(const ClassNames& model, const ClassNames& truth) {
  if (model.size() != truth.size()) {
    throw Error("the model has {} classes ({}), the truth has {} ({})", model.size(), join_some(model, 6), truth.size(),
                join_some(truth, 6));
  }
  const ClassNames generic = read_classes(std::to_string(model.size()));
  if (model == generic || truth == generic) return;
  std::vector<std::string> differing;
  for (size_t k = 0; k < model.size(); ++k) {
    if (model[k] == truth[k]) continue;
    const auto elsewhere = std::find(truth.begin(), truth.end(), model[k]);
    if (elsewhere != truth.end()) {
      throw Error("the classes are in another order: '{}' is {} for the model and {} in the truth", model[k], k,
                  elsewhere - truth.begin());
    }
    differing.push_back(fmt::format("{} is '{}' and '{}'", k, model[k], truth[k]));
  }
  if (differing.empty()) return;
  log_warning("{} class name(s) differ between model and truth, classes go by number: {}", differing.size(),
              join_some(differing, 4));
}

std::vector<float> full_probabilities(const torch::Tensor& logits, int64_t height, int64_t width) {
  const torch::Tensor source = logits.to(torch::kFloat).contiguous();
  const int64_t classes = source.size(0), h = source.size(1), w = source.size(2);
  const float* data = source.const_data_ptr<float>();
  std::vector<float> out(static_cast<size_t>(classes * height * width)), row(static_cast<size_t>(w));
  std::vector<float> most(static_cast<size_t>(width)), sum(static_cast<size_t>(width));
  std::vector<ops::Tap> taps;
  for (int64_t x = 0; x < width; ++x) taps.push_back(ops::bilinear_tap(x, width, w));
  for (int64_t y = 0; y < height; ++y) {
    const ops::Tap tap = ops::bilinear_tap(y, height, h);
    std::fill(most.begin(), most.end(), -INFINITY);
    std::fill(sum.begin(), sum.end(), 0.0f);
    const auto line = [&](int64_t k) { return out.data() + (k * height + y) * width; };
    for (int64_t k = 0; k < classes; ++k) {
      const float* map = data + k * h * w;
      ops::blend_rows(row.data(), map + tap.low * w, map + tap.high * w, tap.share, w);
      float* values = line(k);
      for (size_t x = 0; x < taps.size(); ++x) {
        const float a = row[static_cast<size_t>(taps[x].low)], b = row[static_cast<size_t>(taps[x].high)];
        values[x] = (1 - taps[x].share) * a + taps[x].share * b;
        most[x] = std::max(most[x], values[x]);
      }
    }
    for (int64_t k = 0; k < classes; ++k) {
      float* values = line(k);
      for (size_t x = 0; x < taps.size(); ++x) sum[x] += values[x] = std::exp(values[x] - most[x]);
    }
    for (int64_t k = 0; k < classes; ++k) {
      float* values = line(k);
      for (size_t x = 0; x < taps.size(); ++x) values[x] /= sum[x];
    }
  }
  return out;
}

Evaluation evaluate_model(infer::Predictor& predictor, const Truth& truth, const ModelOptions& options) {
  check_classes(predictor.config().classes, truth.classes);
  const metric::Options metric = with_classes(options.metric, truth.classes);
  for (size_t i = 0; i < truth.masks.size(); ++i) {
    if (truth.photos[i].empty()) throw Error("'{}' has a mask but no photo to run the model on", truth.masks[i].name);
  }
  Evaluation evaluation{truth.classes, metric::Accumulator(metric)};
  evaluation.notes = truth.notes;
  for (const std::string& name : truth.without_mask) evaluation.skipped.push_back({name, "it has no mask"});
  report::Showcase showcase(kBestShown, kWorstShown);
  const Scorer scorer(truth, options, metric, showcase);
  const size_t count = truth.masks.size();
  Progress progress("eval", static_cast<int64_t>(count));
  infer::PhotoStages<infer::Result, Scored> stages;
  stages.read = [&](size_t index) { return image::read_image(truth.photos[index], options.limits); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    std::vector<image::Image> batch;
    std::vector<Path> files;
    for (const infer::Photo& photo : group) {
      batch.push_back(photo.image);
      files.push_back(truth.photos[photo.index]);
    }
    return predictor.run(batch, options.store == nullptr ? torch::Tensor() : options.store->tokens(files));
  };
  stages.finish = [&](const infer::Photo& photo, infer::Result& result) { return scorer.score(photo.index, result); };
  stages.done = [&](Scored scored) {
    evaluation.pixels += scored.pixels;
    evaluation.scores.add(std::move(scored.scores));
    progress.advance();
  };
  stages.unreadable = [&](size_t index, const std::string& problem) {
    log_warning("skipped: {}", problem);
    evaluation.skipped.push_back({truth.masks[index].name, problem});
    progress.advance();
  };
  infer::stream_photos(count, {.workers = options.workers, .batch = options.batch, .stop = {}}, stages);
  progress.finish();
  if (evaluation.scores.images().empty()) throw Error("none of the {} photos could be read", count);
  evaluation.examples = showcase.take();
  add_example_photos(evaluation.examples, truth);
  return evaluation;
}

}  // namespace crisp::flow
