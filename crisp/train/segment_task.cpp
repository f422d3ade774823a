#include "crisp/train/segment_task.h"

#include <cmath>
#include <sstream>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "crisp/image/overlay.h"
#include "crisp/image/resize.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/predictor.h"
#include "crisp/infer/size_order.h"
#include "crisp/loss/edges.h"
#include "crisp/model/load.h"
#include "crisp/tensor/safetensors.h"
#include "crisp/train/batch.h"

namespace crisp::train {
namespace {

constexpr size_t kSamplesShown = 4;
constexpr size_t kCheckedPhotos = 96;
constexpr const char* kMiou = "validation_miou";  // of a model that was chosen by it

}  // namespace

SegmentTask::SegmentTask(model::Segmenter student, model::Segmenter teacher, SegmentData data,
                         const SegmentOptions& options, torch::Device device, Path run)
    : student_(std::move(student)),
      teacher_(std::move(teacher)),
      data_(std::move(data)),
      options_(options),
      device_(device),
      run_(std::move(run)),
      labels_(data_.seeds) {
  data::check(options_.augment);
  loss::check(options_.loss);
  check(options_.phases);
  check(options_.relabel);
  const bool on_vit = student_->config.encoder.vit.has_value();
  if (options_.augment.crop == 0 && !on_vit) throw UsageError("--crop 0: a student learns from crops of one size");
  if (on_vit && !data_.store) throw Error("a student on {} learns from its features", student_->config.encoder.arch);
  if (options_.label_side < 16 || options_.label_side > 4096) {
    throw UsageError("--label-side {}: it lies between 16 and 4096 cells", options_.label_side);
  }
  for (const auto& [option, rate] : {std::pair{"--rate", options_.encoder_rate}, {"--head-rate", options_.head_rate}}) {
    if (!(rate >= 0 && std::isfinite(rate))) throw UsageError("{} {}: a learning rate is not negative", option, rate);
  }
  if (options_.infer_batch < 1) throw UsageError("--infer-batch {}: at least one", options_.infer_batch);
  if (options_.select_on_masks && !data_.val_has_masks) {
    throw UsageError(
        "--select masks: there are no validation photos with masks; name a split that has some with --val");
  }
  student_->to(device_);
  teacher_->to(device_);
  freeze(*teacher_);
  teacher_->eval();
  drop_.share = 0;
  loader_ = std::make_unique<data::Loader>(
      data_.train.size(), [this](size_t index, Rng& rng) { return make_example(index, rng); },
      data::LoaderOptions{
          .batch = options_.batch, .workers = options_.workers, .seed = options_.seed, .shuffle = true});
}

data::Seed SegmentTask::labels_of(const data::Sample& sample) const {
  if (labels_) return labels_->read(sample.id);
  image::Mask mask = data_.dataset->read_mask(sample);
  const int width = mask.width, height = mask.height;
  return {std::move(mask), image::Mask(width, height)};
}

data::Example SegmentTask::make_example(size_t index, Rng& rng) const {
  const data::Sample& sample = data_.train[index];
  data::Example example;
  example.id = sample.id;
  example.image = image::read_image(sample.image);
  data::Seed seed = labels_of(sample);
  if (seed.labels.width != example.image.width || seed.labels.height != example.image.height) {
    throw Error("{}: the photo is {}x{}, but its labels are {}x{}", sample.image.string(), example.image.width,
                example.image.height, seed.labels.width, seed.labels.height);
  }
  // Where to cut is decided on the whole photo; what is learned from is a crop.
  const loss::KeptLevels kept = loss::kept_levels(seed.labels, seed.uncertainty, drop_);
  example.labels = std::move(seed.labels);
  example.uncertainty = std::move(seed.uncertainty);
  if (data_.store) {
    example = on_square(std::move(example), sample, rng);
  } else {
    example = data::augment(std::move(example), options_.augment, rng);
  }
  // The surface loss too asks where labels are known.
  if ((student_->config.head.boundary && options_.loss.boundary > 0) || options_.loss.surface > 0) {
    example.band = loss::boundary_band(example.labels, options_.band_width);
  }
  if (options_.loss.surface > 0 || options_.loss.edges > 0) example.distance = loss::edge_distance(example.labels);
  example.labels = loss::drop_uncertain(std::move(example.labels), example.uncertainty, kept);
  return example;
}

data::Example SegmentTask::on_square(data::Example example, const data::Sample& sample, Rng& rng) const {
  example.tokens = data_.store->of({sample.image, false});
  example.image = feature::square_of(example.image, data_.store->view().side);
  for (image::Mask* map : {&example.labels, &example.uncertainty}) {
    *map = image::resize_nearest(*map, options_.label_side, options_.label_side);
  }
  data::AugmentOptions augment = options_.augment;
  augment.crop = 0;
  return data::augment(std::move(example), augment, rng);
}

std::vector<ParameterGroup> SegmentTask::groups() {
  // What learns of an encoder that is frozen is as fresh as the head.
  const double encoder_rate = data_.store ? options_.head_rate : options_.encoder_rate;
  std::vector<ParameterGroup> groups = {
      group_of("encoder", *student_->encoder, "encoder.", encoder_rate, options_.weight_decay),
      group_of("head", *student_->head, "head.", options_.head_rate, options_.weight_decay)};
  if (student_->propagation) {
    groups.push_back(
        group_of("propagation", *student_->propagation, "propagation.", options_.head_rate, options_.weight_decay));
  }
  return groups;
}

int64_t SegmentTask::relabel_round(const Moment& now) const {
  if (!options_.relabel.on || !data_.seeds) return 0;
  const double past = now.fraction() - options_.relabel.from;
  return past < 0 ? 0 : 1 + static_cast<int64_t>(std::floor(past / options_.relabel.every + 1e-9));
}

Numbers SegmentTask::prepare(const Moment& now) {
  Numbers numbers;
  if (trial_ && now.step >= trial_->due) {
    loader_->seek(loader_->position());
    numbers = judge_round(now);
  }
  const int64_t due = relabel_round(now);
  if (due > round_) {
    loader_->seek(loader_->position());  // drains: nobody reads the labels while they change
    const Numbers more = relabel_now(now, due);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  if (!data_.seeds) return numbers;
  // The share dropped moves in steps of a fortieth of training, so that it depends on the step alone.
  const int64_t block = std::max<int64_t>(1, now.steps / 40);
  const double fraction = static_cast<double>(now.step / block * block) / static_cast<double>(now.steps);
  loss::DropOptions wanted{.share = drop_share(options_.phases, fraction)};
  if (!relabelled_.empty()) {
    wanted.share = drop_share(options_.relabel, fraction);
    wanted.keep_at_least = options_.relabel.keep_at_least;
    wanted.image_wide = options_.relabel.image_wide;
    if (options_.relabel.threshold > 0) wanted.threshold = options_.relabel.threshold;
  }
  if (wanted == drop_) return numbers;
  loader_->seek(loader_->position());
  drop_ = wanted;
  return numbers;
}

const std::vector<data::Sample>& SegmentTask::by_size() {
  if (by_size_.empty()) by_size_ = infer::in_size_order(data_.train);
  return by_size_;
}

Numbers SegmentTask::relabel_now(const Moment& now, int64_t round) {
  const std::string folder = fmt::format("relabelled/round-{:02d}", round);
  log_info("step {}: the teacher relabels {} photos (round {})", now.step, data_.train.size(), round);
  const data::SeedFacts& seeds = labels_->facts();
  const RelabelReport report =
      relabel(teacher_, by_size(),
              {.made_by = fmt::format("teacher at step {}", now.step),
               .data = seeds.data,
               .split = seeds.split,
               .classes = seeds.classes},
              &*labels_, data_.dataset, options_.relabel, device_, options_.amp, options_.workers, options_.infer_batch,
              derive_seed(options_.seed, static_cast<uint64_t>(now.step)), run_ / folder, data_.store.get());
  round_ = round;
  rounds_.emplace_back(now.step, report);
  const std::string quality = report.miou < 0 ? "" : fmt::format(", mIoU against masks {:.2f}", report.miou);
  Numbers numbers = {{"agreement", report.agreement}, {"found", report.found}};
  if (report.miou >= 0) numbers.emplace_back("miou", report.miou);
  const bool used = report.found >= options_.relabel.found_at_least;
  numbers.emplace_back("used", used);
  if (used) numbers.emplace_back("ignored", drop_share(options_.relabel, now.fraction()));
  if (!used) {
    log_warning("relabelling postponed: the teacher finds {:.1f}% of the tags, less than {:.0f}%{}", 100 * report.found,
                100 * options_.relabel.found_at_least, quality);
    return numbers;
  }
  log_info("round {}: {:.1f}% of the pixels as before, {:.1f}% of the tags found{}, {:.1f} s", round,
           100 * report.agreement, 100 * report.found, quality, report.seconds);
  if (options_.relabel.checked) {
    const double next = std::min(1.0, options_.relabel.from + options_.relabel.every * static_cast<double>(round));
    const auto until = static_cast<int64_t>(next * static_cast<double>(now.steps));
    trial_ = RoundTrial{now.step + std::max<int64_t>(1, (until - now.step) / 2), maskless_score(), relabelled_};
  }
  use_labels(folder);
  return numbers;
}

void SegmentTask::use_labels(const std::string& relabelled) {
  relabelled_ = relabelled;
  labels_.emplace(relabelled.empty() ? data_.seeds->path() : run_ / relabelled);
}

MasklessScore SegmentTask::maskless_score() {
  const bool held = std::ranges::any_of(data_.val, [](const data::Sample& sample) { return !sample.tags.empty(); });
  return score_without_masks(teacher_, held ? data_.val : data_.train, kCheckedPhotos, device_, options_.amp,
                             data_.store.get());
}

Numbers SegmentTask::judge_round(const Moment& now) {
  const MasklessScore after = maskless_score();
  const bool lower = is_lower(after, trial_->before);
  const std::string what = fmt::format("step {}: since round {} {}", now.step, round_, trial_->compared_with(after));
  if (lower) {
    use_labels(trial_->labels_before);
    log_warning("{}: the round is withdrawn, the labels before it are learned from again", what);
  } else {
    log_info("{}: its labels stay", what);
  }
  trial_.reset();
  return {{"tags", after.tags / 100}, {"mirror", after.mirror / 100}, {"withdrawn", lower}};
}

Losses SegmentTask::losses(const std::vector<data::Example>& batch, const Moment& now) {
  const double fraction = now.fraction();
  const model::ForwardOptions how{.modulate = fraction >= options_.phases.modulation,
                                  .detach_refiner = fraction < options_.phases.refiner_attached,
                                  .boundary = true,
                                  .tokens = tokens_of(batch, device_)};
  const model::Prediction said = student_->forward(images_of(batch, device_), how);
  loss::Options parts = options_.loss;
  parts.weighting = parts.weighting && fraction >= options_.phases.weighting;
  loss::Targets targets{.labels = maps_of(batch, &data::Example::labels, device_), .band = {}, .distance = {}};
  if (!batch[0].band.labels.empty()) targets.band = maps_of(batch, &data::Example::band, device_);
  if (!batch[0].distance.empty()) targets.distance = distances_of(batch, device_);
  const loss::Total total = loss::total(
      {.logits = said.logits, .refined = said.refined, .variance = said.variance, .boundary = said.boundary}, targets,
      parts);
  Losses losses{total.sum, {}};
  for (const loss::Part& part : total.parts) losses.parts.emplace_back(part.name, part.value);
  return losses;
}

Numbers SegmentTask::validate(const Moment& now) {
  if (data_.val.empty()) return {};
  const infer::InferOptions how;
  infer::Predictor predictor(teacher_, device_, torch::kFloat, how);
  metric::Options metric;
  metric.classes = static_cast<int>(student_->config.classes.size());
  metric::Confusion total(metric.classes);
  infer::PhotoStages<infer::Result, metric::Confusion> stages;
  stages.read = [&](size_t index) { return image::read_image(data_.val[index].image); };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    std::vector<image::Image> images;
    std::vector<Path> files;
    for (const infer::Photo& photo : group) {
      images.push_back(photo.image);
      files.push_back(data_.val[photo.index].image);
    }
    return predictor.run(images, data_.store ? data_.store->tokens(files) : torch::Tensor());
  };
  stages.finish = [&](const infer::Photo& photo, infer::Result& result) {
    const data::Sample& sample = data_.val[photo.index];
    if (photo.index < kSamplesShown) {
      const Path folder = run_ / "samples" / sample.id;
      make_folder(folder);
      image::write_rgb_png(folder / fmt::format("step-{:07d}.png", now.step),
                           image::overlay(photo.image, result.labels, student_->config.classes));
    }
    try {
      const image::Mask truth =
          data_.val_has_masks ? data_.dataset->read_mask(sample) : data_.seeds->read(sample.id).labels;
      return metric::count_confusion(sample.id, truth, result.labels, metric);
    } catch (const Error& problem) {  // looking must not end a run
      log_warning("validation: skipped {}", problem.what());
      return metric::Confusion(metric.classes);
    }
  };
  stages.done = [&](const metric::Confusion& one) { total.add(one); };
  stages.unreadable = [](size_t, const std::string& problem) { log_warning("validation: skipped {}", problem); };
  infer::stream_photos(data_.val.size(), {.workers = options_.workers, .batch = options_.infer_batch, .stop = {}},
                       stages);
  if (options_.select_on_masks) keep_if_best(total.mean_iou(), now);
  return {{data_.val_has_masks ? "miou" : "miou_on_seeds", total.mean_iou()}};
}

std::string SegmentTask::selected_by() const {
  return options_.select_on_masks ? fmt::format("best mIoU on masks of split {}", data_.val_split) : "last step";
}

tensor::Metadata SegmentTask::origin() const {
  return {{"labels", data_.seeds ? "seeds" : "masks (fully supervised)"}, {"selected_by", selected_by()}};
}

// The file itself says how good it is, so that it and its score never part, whenever a run is killed.
void SegmentTask::keep_if_best(double miou, const Moment& now) const {
  if (std::filesystem::exists(best_file())) {
    tensor::Metadata facts = tensor::read_safetensors(best_file()).metadata;
    if (miou <= parse_number(facts[kMiou]).value_or(-1)) return;
  }
  tensor::Metadata facts = origin();
  facts[kMiou] = fmt::format("{}", miou);
  facts["step"] = std::to_string(now.step);
  model::save_segmenter(best_file(), teacher_, torch::kFloat, facts);
}

tensor::Metadata SegmentTask::state() const {
  std::string rounds;  // so that the report of a run that went on has them all
  for (const auto& [step, r] : rounds_) {
    rounds += fmt::format("{} {} {} {} {} {}\n", step, r.agreement, r.found, r.miou, r.images, r.seconds);
  }
  tensor::Metadata facts = {{"relabelled", relabelled_}, {"round", std::to_string(round_)}, {"rounds", rounds}};
  if (trial_) facts["trial"] = trial_->to_text();
  return facts;
}

void SegmentTask::restore(const tensor::Metadata& facts) {
  const auto round = facts.find("round"), folder = facts.find("relabelled");
  if (round != facts.end()) round_ = parse_integer(round->second).value_or(0);
  const auto rounds = facts.find("rounds");
  std::istringstream lines(rounds == facts.end() ? "" : rounds->second);
  std::pair<int64_t, RelabelReport> one;
  RelabelReport& r = one.second;
  rounds_.clear();
  while (lines >> one.first >> r.agreement >> r.found >> r.miou >> r.images >> r.seconds) rounds_.push_back(one);
  trial_.reset();
  if (const auto trial = facts.find("trial"); trial != facts.end()) trial_ = RoundTrial::from_text(trial->second);
  if (data_.seeds) use_labels(folder == facts.end() ? "" : folder->second);
}

void SegmentTask::save(const Path& file) {
  tensor::Metadata facts = origin();
  model::Segmenter kept = teacher_;
  if (options_.select_on_masks) {
    tensor::Metadata best = tensor::read_safetensors(best_file()).metadata;
    for (const char* key : {kMiou, "step"}) facts[key] = best[key];
    log_warning("the model was CHOSEN BY A SCORE ON MASKS: mIoU {} on split {} at step {}", facts[kMiou],
                data_.val_split, facts["step"]);
    kept = model::load_segmenter(best_file());
    kept->to(device_);
  }
  model::save_segmenter(file, kept, torch::kFloat, facts);
}

}  // namespace crisp::train
