#include "crisp/train/relabel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/random.h"
#include "crisp/image/decode.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/mit.h"
#include "crisp/ops/device_par.h"
#include "crisp/ops/uncertainty.h"
#include "crisp/ops/upsample_labels.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/seldom_sizes.h"

namespace crisp::train {
namespace {

image::Mask to_mask(const torch::Tensor& bytes) {
  const torch::Tensor plain = bytes.contiguous();
  image::Mask mask(static_cast<int>(plain.size(1)), static_cast<int>(plain.size(0)));
  std::copy_n(plain.const_data_ptr<uint8_t>(), mask.labels.size(), mask.labels.begin());
  return mask;
}

torch::Tensor planes(const TeacherView& view, const std::vector<int>& labels) {
  const torch::Tensor places = torch::tensor(labels, torch::kLong).to(view.probabilities.device());
  return view.probabilities.index_select(0, places).contiguous();
}

torch::Tensor resized(const torch::Tensor& maps, int width, int height) {
  return torch::upsample_bilinear2d(maps.unsqueeze(0), {height, width}, /*align_corners=*/false)[0];
}

image::Mask uncertainty_levels(const TeacherView& view, int width, int height) {
  const torch::Tensor levels = resized(view.uncertainty.unsqueeze(0), width, height)[0];
  return to_mask((levels * 255).round_().clamp_(0, 255).to(torch::kUInt8).to(torch::kCPU));
}

void weigh(const data::Seed& so_far, double trust, seed::Posterior& p) {
  const size_t pixels = p.pixels(), count = p.labels.size();
  if (so_far.labels.labels.size() != pixels || count < 2) return;
  const auto labels = static_cast<float>(count);
  std::array<float, 256> own{}, others{};  // factors by level of uncertainty
  for (size_t level = 0; level < 256; ++level) {
    const float margin = 1 - static_cast<float>(level) / 255;
    const float q = std::min(kSure, (1 + (labels - 1) * margin) / labels);
    own[level] = std::pow(q, static_cast<float>(trust));
    others[level] = std::pow((1 - q) / (labels - 1), static_cast<float>(trust));
  }
  for (size_t i = 0; i < pixels; ++i) {
    const uint8_t label = so_far.labels.labels[i], level = so_far.uncertainty.labels[i];
    if (label == image::kIgnore) continue;
    for (size_t k = 0; k < count; ++k) {
      p.probabilities[k * pixels + i] *= p.labels[k] == label ? own[level] : others[level];
    }
  }
}

void count_same(const std::string& id, const image::Mask& old, const image::Mask& now, int64_t& known, int64_t& same) {
  if (old.width != now.width || old.height != now.height) {
    throw Error("{}: its labels so far are {}x{}, the photo is {}x{}", id, old.width, old.height, now.width,
                now.height);
  }
  for (size_t i = 0; i < now.labels.size(); ++i) {
    if (old.labels[i] == image::kIgnore) continue;
    ++known;
    same += old.labels[i] == now.labels[i];
  }
}

int64_t tags_found(const image::Mask& labels, const std::vector<int>& tags) {
  std::array<bool, 256> present{};
  for (const uint8_t label : labels.labels) present[label] = true;
  return std::count_if(tags.begin(), tags.end(), [&](int tag) { return present[static_cast<size_t>(tag)]; });
}

}  // namespace

std::vector<TeacherView> teacher_views(model::SegmenterImpl& teacher, const feature::Input& input, int64_t passes,
                                       const TeacherSources& sources, const std::vector<double>& scales, bool flip) {
  const torch::Tensor& images = input.pixels;
  const auto cells = [&](int64_t pixels) {
    return model::output_cells(teacher.config.encoder, teacher.config.head, pixels);
  };
  const double zoom = teacher.config.head.zoom;
  const double largest = std::max(1.0, zoom * *std::max_element(scales.begin(), scales.end()));
  const torch::Tensor widest = infer::rescaled(images, largest);
  const int64_t rows = cells(widest.size(2)), columns = cells(widest.size(3));
  const auto views = static_cast<int64_t>(scales.size()) * (flip ? 2 : 1);
  const int64_t each = (passes + views - 1) / views;
  torch::Tensor mean, aleatoric, mean_entropy;
  for (const double scale : scales) {
    const torch::Tensor scaled = scale * zoom == largest ? widest : infer::rescaled(images, scale * zoom);
    const int64_t h = cells(scaled.size(2)), w = cells(scaled.size(3));
    for (const bool mirrored : {false, true}) {
      if (mirrored && !flip) continue;
      // A map of this view [N, C, ., .] on the common grid, without the padding of small photos.
      const auto placed = [&](const torch::Tensor& map) {
        torch::Tensor whole = map.narrow(2, 0, h).narrow(3, 0, w);
        if (mirrored) whole = whole.flip(3);
        return h == rows && w == columns ? whole : torch::upsample_bilinear2d(whole, {rows, columns}, false);
      };
      const auto add = [&](torch::Tensor& sum, const torch::Tensor& more) {
        const torch::Tensor map = placed(more);
        sum = sum.defined() ? sum.add_(map) : map.clone();
      };
      const auto count = [&](const model::Prediction& said) {
        const torch::Tensor log_p = torch::log_softmax(said.refined.to(torch::kFloat), 1);
        add(mean, log_p.exp());
        if (sources.epistemic) add(mean_entropy, ops::relative_entropy(log_p).unsqueeze(1));
        if (sources.aleatoric && said.variance.defined()) add(aleatoric, said.variance.mean(1, true));
      };
      const torch::Tensor seen = mirrored ? scaled.flip(3) : scaled;
      const bool on_vit = teacher.config.encoder.vit.has_value();
      const torch::Tensor padded = on_vit ? seen : model::pad_to_smallest(seen);
      torch::Tensor tokens = scale == 1 ? input.tokens : torch::Tensor();
      if (tokens.defined() && mirrored) tokens = tokens.flip(3);
      const model::Features features = teacher.encoder->forward(padded, tokens);
      const auto take = [&](model::Prediction said) {
        teacher.propagate(padded, said);
        count(said);
      };
      if (passes > 1) {
        teacher.head->sample(features, each, take);
      } else {
        take(teacher.head->forward(features, {}));
      }
    }
  }
  const auto samples = static_cast<double>(each * views);
  mean = mean / samples;
  const torch::Tensor entropy = ops::relative_entropy(mean.clamp_min(1e-12).log());
  std::vector<torch::Tensor> maps;
  if (sources.aleatoric && aleatoric.defined()) maps.push_back(aleatoric.squeeze(1) / samples);
  if (sources.entropy) maps.push_back(entropy);
  if (sources.epistemic) maps.push_back(entropy - mean_entropy.squeeze(1) / samples);
  if (maps.empty()) maps.push_back(1 - mean.amax(1));
  const torch::Tensor uncertainty = ops::mixed_uncertainty(maps);
  std::vector<TeacherView> result;
  for (int64_t i = 0; i < images.size(0); ++i) result.push_back({mean[i], uncertainty[i]});
  return result;
}

data::Seed label_from(const TeacherView& view, const std::vector<int>& allowed, int width, int height) {
  image::Mask labels = to_mask(ops::upsample_labels(planes(view, allowed), height, width).to(torch::kCPU));
  for (uint8_t& label : labels.labels) label = static_cast<uint8_t>(allowed[label]);
  return {std::move(labels), uncertainty_levels(view, width, height)};
}

data::Seed refined_label_from(const TeacherView& view, const std::vector<int>& allowed, const image::Image& photo,
                              const data::Seed* so_far, const RelabelOptions& options) {
  seed::Posterior p{photo.width, photo.height, allowed, {}};
  const torch::Tensor full = resized(planes(view, p.labels), photo.width, photo.height).clamp_min(1e-5).contiguous();
  p.probabilities.assign(full.const_data_ptr<float>(), full.const_data_ptr<float>() + full.numel());
  if (so_far != nullptr && options.trust > 0) weigh(*so_far, options.trust, p);
  seed::normalise(p);
  seed::refine(photo, {}, options.refine, p);
  return {seed::best_labels(p), uncertainty_levels(view, photo.width, photo.height)};
}

RelabelReport relabel(model::Segmenter teacher, const std::vector<data::Sample>& samples, data::SeedFacts facts,
                      const data::SeedFolder* before, const data::Dataset* truth, const RelabelOptions& given,
                      torch::Device device, torch::ScalarType dtype, int workers, int64_t batch, uint64_t seed,
                      const Path& out, feature::Store* store) {
  const auto start = std::chrono::steady_clock::now();
  RelabelOptions options = given;
  options.refine.par_by = ops::par_on(device);
  // Groups of photos share their dropout's randomness, and the teacher's own finds are not in the folder: what a
  // stopped run left is made again, so that it ends with the same labels.
  if (data::is_seed_folder(out)) {
    std::filesystem::remove_all(out / "labels");  // first, so that what is left is never taken for finished
    std::filesystem::remove_all(out);
  }
  facts.options = fmt::format(R"({{"relabelled": true, "refine": "{}", "trust": {}}})",
                              seed::to_string(options.refine.chain), options.trust);
  const auto classes = static_cast<int>(facts.classes.size());
  const bool background = has_background(facts.classes);
  data::SeedWriter writer(out, std::move(facts));
  const auto has_labels = [&](const std::string& id) { return before != nullptr && before->has(id); };
  teacher->eval();
  struct Found {
    size_t index;
    int64_t same, known, found, tags;
    std::optional<metric::Confusion> confusion;
  };
  RelabelReport report;
  metric::Options metric;
  metric.classes = classes;
  metric::Confusion total(metric.classes);
  int64_t same = 0, known = 0, found = 0, tags = 0;
  bool any_truth = false;
  uint64_t group_number = 0;
  std::vector<std::string> ids;
  for (const data::Sample& sample : samples) ids.push_back(sample.id);
  Progress progress("relabel", static_cast<int64_t>(samples.size()));

  infer::PhotoStages<TeacherView, Found> stages;
  stages.read = [&](size_t index) { return image::read_image(samples[index].image); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    const torch::InferenceMode inference;
    const tensor::Autocast mixed(device, dtype);
    torch::manual_seed(derive_seed(seed, group_number++));
    std::vector<image::Image> images;
    std::vector<Path> files;
    for (const infer::Photo& photo : group) {
      images.push_back(photo.image);
      files.push_back(samples[photo.index].image);
    }
    const feature::Input input = feature::input_of(teacher->config.encoder, images, files, store, device);
    const tensor::SeldomSizes seldom(input.pixels);
    std::vector<TeacherView> views =
        teacher_views(*teacher, input, options.passes, options.sources, options.scales, options.flip);
    for (TeacherView& view : views) {  // few bytes travel, and the workers need no device
      view.probabilities = view.probabilities.to(torch::kCPU);
      view.uncertainty = view.uncertainty.to(torch::kCPU);
    }
    return views;
  };
  stages.finish = [&](const infer::Photo& photo, TeacherView& view) {
    const torch::InferenceMode inference;
    const data::Sample& sample = samples[photo.index];
    Found one{photo.index, 0, 0, 0, static_cast<int64_t>(sample.tags.size()), std::nullopt};
    const bool plain = options.refine.chain.empty() && options.trust == 0;
    std::optional<data::Seed> so_far;
    if (options.trust > 0 && has_labels(sample.id)) so_far = before->read(sample.id);
    std::vector<int> allowed = allowed_labels(sample.tags, background);
    if (allowed.empty()) {  // nobody said what it shows, and it is not the background
      for (int k = 1; k < classes; ++k) allowed.push_back(k);
    }
    data::Seed made = plain ? label_from(view, allowed, photo.image.width, photo.image.height)
                            : refined_label_from(view, allowed, photo.image, so_far ? &*so_far : nullptr, options);
    one.found = tags_found(made.labels, sample.tags);
    if (!options.all && one.found < one.tags && has_labels(sample.id)) made = before->read(sample.id);
    writer.write(sample.id, made);
    const image::Mask& labels = made.labels;
    try {  // what follows is for looking at, and no reason to end a run
      if (before != nullptr) count_same(sample.id, before->read(sample.id).labels, labels, one.known, one.same);
      if (truth != nullptr && sample.has_mask()) {
        one.confusion = metric::count_confusion(sample.id, truth->read_mask(sample), labels, metric);
      }
    } catch (const Error& problem) {
      log_warning("relabelling: not compared: {}", problem.what());
    }
    return one;
  };
  stages.done = [&](Found one) {
    same += one.same;
    known += one.known;
    found += one.found;
    tags += one.tags;
    if (one.confusion) {
      any_truth = true;
      total.add(*one.confusion);
    }
    progress.advance(1, samples[one.index].id);
  };
  stages.unreadable = [&](size_t index, const std::string& problem) {
    writer.skip(samples[index].id, problem);
    progress.advance();
  };
  infer::stream_photos(samples.size(), {.workers = workers, .batch = batch, .stop = {}}, stages);
  progress.finish();
  report.images = writer.finish(ids, workers).images;
  report.agreement = static_cast<double>(same) / static_cast<double>(std::max<int64_t>(1, known));
  report.found = static_cast<double>(found) / static_cast<double>(std::max<int64_t>(1, tags));
  if (any_truth) report.miou = total.mean_iou();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace crisp::train
