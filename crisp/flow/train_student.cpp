#include "crisp/flow/train_student.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/flow/run_folder.h"
#include "crisp/flow/seen_photos.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/flow/training_report.h"
#include "crisp/flow/training_setup.h"
#include "crisp/model/foundation.h"
#include "crisp/model/load.h"
#include "crisp/model/vit_config.h"

namespace crisp::flow {
namespace {

template <typename Value>
Value choose(const char* option, const std::string& word,
             std::initializer_list<std::pair<const char*, Value>> choices) {
  std::vector<std::string> known;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    known.emplace_back(name);
  }
  throw UsageError("{} {}: it is one of {}", option, word, join(known, ", "));
}

train::StudentConfig student_config(const StudentOptions& o, size_t classes) {
  const int64_t width = o.width > 0 ? o.width : model::default_width(o.arch);
  train::StudentConfig config = train::student_row(o.ablation, o.uncertainty, width, static_cast<int64_t>(classes));
  config.head.hidden = o.hidden;
  config.head.modulation_minmax = o.modulation_minmax;
  config.head.dropout = o.dropout;
  config.head.temperature = o.temperature;
  config.head.boundary_on_e1 = o.boundary_on_e1;
  config.head.propagate = o.propagate;
  const auto fusion = choose<model::Fusion>(
      "--fusion", o.fusion,
      {{"dmf", model::Fusion::kDmf}, {"concat", model::Fusion::kConcat}, {"mean", model::Fusion::kMean}});
  const auto modulation = choose<model::Modulation>("--modulation", o.modulation,
                                                    {{"off", model::Modulation::kOff},
                                                     {"literal", model::Modulation::kLiteral},
                                                     {"per_scale", model::Modulation::kPerScale}});
  if (config.head.kind == model::HeadKind::kCrispformer) {
    config.head.fusion = fusion;
    const bool row_has_it = config.head.modulation != model::Modulation::kOff;
    config.head.modulation =
        row_has_it && config.head.fusion == model::Fusion::kDmf ? modulation : model::Modulation::kOff;
  }
  if (o.no_relabel) config.relabel = false;
  return config;
}

// Photos to look at while training: with masks where there are some, else with seeds.
void add_validation(const data::Dataset& dataset, const StudentOptions& options, train::SegmentData& data) {
  const std::string split = held_out_split(dataset, options.val, options.split);
  if (split.empty()) return;
  data.val_split = split;
  for (data::Sample& sample : dataset.samples(split)) {
    if (sample.has_mask()) data.val.push_back(std::move(sample));
  }
  data.val_has_masks = !data.val.empty();
  if (data.val_has_masks || !data.seeds) return;
  for (data::Sample& sample : dataset.samples(split)) {
    if (data.seeds->has(sample.id)) data.val.push_back(std::move(sample));
  }
  if (!data.val.empty()) {
    log_warning("no masks in split {}: validation is against held-out seeds, which are wrong in places", split);
  }
}

train::SegmentData open_data(const data::Dataset& dataset, const StudentOptions& options) {
  train::SegmentData data;
  data.dataset = &dataset;
  const bool supervised = options.labels == "masks";
  if (!supervised) {
    if (options.labels != "seeds") throw UsageError("--labels {}: it is seeds or masks", options.labels);
    if (options.seeds.empty()) throw UsageError("--seeds is needed: a seed folder (or --labels masks)");
    data.seeds.emplace(options.seeds);
    const ClassNames& classes = data.seeds->facts().classes;
    if (classes != dataset.classes) {  // a label would silently become another thing
      throw Error("{}: seeds of other classes: {}; the data set has {}", options.seeds.string(), join_some(classes, 6),
                  join_some(dataset.classes, 6));
    }
  }
  size_t without = 0;
  for (data::Sample& sample : dataset.samples(options.split)) {
    if (supervised ? sample.has_mask() : data.seeds->has(sample.id)) {
      data.train.push_back(std::move(sample));
    } else {
      ++without;
    }
  }
  const char* what = supervised ? "mask" : "seed";
  if (data.train.empty()) throw Error("no photo of split {} has a {}", options.split, what);
  if (without > 0) log_warning("{} photo(s) of split {} have no {} and are left out", without, options.split, what);
  add_validation(dataset, options, data);
  return data;
}

}  // namespace

void apply_preset(const std::string& name, StudentOptions& o) {
  if (name == "segformer") {
    o.task.encoder_rate = 6e-5;
    o.task.head_rate = 6e-4;
    o.task.weight_decay = 0.01;
    o.trainer.schedule.decay = "poly";
  } else if (name == "paper") {
    o.task.encoder_rate = 6e-6;
    o.task.head_rate = 6e-5;
    o.task.weight_decay = 1e-4;
    o.trainer.schedule.decay = "cosine";
  } else {
    throw UsageError("--preset {}: it is segformer or paper", name);
  }
}

void apply_arch(const std::string& arch, StudentOptions& o) {
  if (!model::is_vit(arch)) return;
  o.task.head_rate = 1e-3;
  o.task.loss.edge_reach = 4;  // of 128
  o.trainer.epochs = 12;
}

model::SegmenterConfig segmenter_config(const StudentOptions& options, const ClassNames& classes) {
  model::SegmenterConfig config;
  config.encoder = model::encoder_config(options.arch);
  if (config.encoder.vit) {
    model::VitView view = *config.encoder.vit;
    if (options.fine < 1 || options.fine > view.patch) {
      throw UsageError("--fine {}: it lies between 1 and {} cells", options.fine, view.patch);
    }
    view.fine = options.fine;
    config.encoder = model::encoder_config(options.arch, view);
  }
  config.encoder.drop_path = options.drop_path;
  config.head = student_config(options, classes.size()).head;
  if (!has_background(classes)) config.head.offsets = model::without_background(config.head.classes);
  config.head.zoom = options.zoom;
  config.classes = classes;
  return config;
}

int zoomed_crop(int crop, double zoom) {
  return zoom == 1 ? crop : std::max(32, static_cast<int>(std::lround(crop * (1 + zoom) / 64)) * 32);
}

StudentReport train_student(const StudentOptions& options, torch::Device device, const std::function<bool()>& stop) {
  train::check(options.trainer);
  const bool supervised = options.labels == "masks";
  data::Dataset dataset =
      supervised ? data::open_dataset(options.data, {.tags_from = data::parse_tag_source(options.tags_from),
                                                     .seed = options.trainer.seed})
                 : open_tagged(options.data, options.split, options.tags_from, options.tags, options.trainer.seed,
                               options.task.workers);
  train::SegmentData data = open_data(dataset, options);
  const train::StudentConfig row = student_config(options, dataset.classes.size());
  train::SegmentOptions task_options = options.task;
  if (task_options.augment.crop < 0) {
    const int crop = default_crop(data.train);
    task_options.augment.crop = zoomed_crop(crop == 448 ? 512 : crop, options.zoom);
  }
  task_options.augment.scale_low *= options.zoom;
  task_options.augment.scale_high *= options.zoom;
  const loss::Options& wanted = options.task.loss;
  task_options.loss.weighting = wanted.weighting && row.loss.weighting;
  if (options.weighting_minmax) task_options.loss.weight.range = ops::Range::kMinMax;
  task_options.loss.weight.aleatoric = row.loss.weight.aleatoric;
  task_options.loss.weight.entropy = row.loss.weight.entropy;
  task_options.relabel.on = row.relabel && !supervised;
  task_options.relabel.sources = row.sources;
  task_options.relabel.refine.chain = seed::parse_refinements({options.relabel_refine});
  if (task_options.relabel.refine.has(seed::Refinement::kAffinity)) {
    throw UsageError("--relabel-refine affinity: it is none, crf or par");
  }
  task_options.select_on_masks = choose<bool>("--select", options.select, {{"last", false}, {"masks", true}});
  if (task_options.select_on_masks && options.trainer.validate_every == 0) {
    throw UsageError("--select masks chooses among validations, and --validate-every 0 makes none");
  }
  if (supervised) task_options.phases.drop_first = task_options.phases.drop_last = 0;

  model::SegmenterConfig config = segmenter_config(options, dataset.classes);
  config.head.side = typical_side(data.train);
  const Path weights = initial_weights(options.arch, options.init);
  torch::manual_seed(options.trainer.seed);
  model::Segmenter student = model::make_segmenter(config);
  const std::shared_ptr<feature::Store> store =
      begin_on(*student->encoder, weights, options.features, options.out, device);
  if (!store && !weights.empty()) model::load_encoder(*student->encoder, weights);
  model::Segmenter teacher(config);
  tensor::load_into(*teacher, tensor::state_of(*student), "the student");
  model::share_foundation(*student->encoder, *teacher->encoder);
  const std::vector<data::Sample> photos = data.train, looked_at = data.val;
  data.store = store;
  if (supervised) log_warning("FULLY SUPERVISED: the student learns from pixel masks; this is an upper bound");
  const std::string zoomed = options.zoom == 1 ? "" : fmt::format(", photos enlarged by {}", options.zoom);
  const std::string seen = store ? fmt::format("frozen, labels at {0}x{0}", task_options.label_side)
                                 : fmt::format("crop {}{}", task_options.augment.crop, zoomed);
  log_info("{} photos, {} classes, {} row {} {}, {}, starting from {}", data.train.size(), dataset.classes.size(),
           options.arch, options.ablation, options.uncertainty, seen, weights.empty() ? "nothing" : weights.string());
  train::SegmentTask task(student, teacher, std::move(data), task_options, device, options.out);
  if (task_options.select_on_masks) log_warning("--select masks: the model will be the {}", task.selected_by());
  // Last, so that options and weights that make no sense leave no folder behind.
  RunFolder run(options.out,
                {.task = "segment",
                 .command = options.command,
                 .data = options.data.string(),
                 .split = options.split,
                 .classes = dataset.classes,
                 .labels = supervised ? "masks (fully supervised)" : "seeds",
                 .selected_by = task.selected_by()},
                options.config, options.resume);
  StudentReport report;
  keep_photos_seen(run.path(), photos, weights);
  if (store) {
    keep_encoder(*store, run.path());
    if (!make_features(*store, {photos, looked_at}, options.task.workers, stop)) return report;
    standardise(*student->encoder, *store, photos);
    standardise(*teacher->encoder, *store, photos);
  }
  train::Trainer trainer(task, options.trainer, device, run.path());
  if (options.resume) trainer.resume();
  report.complete = trainer.run(stop);
  report.rounds = task.rounds();
  report.validation = trainer.last_validation();
  if (!report.complete) return report;
  run.finish(trainer.seconds());
  write_training_report(run.path());
  log_info("{}: the teacher, {}; learned from {}", (options.out / "model.safetensors").string(), task.selected_by(),
           supervised ? "MASKS: fully supervised" : options.seeds.string());
  return report;
}

}  // namespace crisp::flow
