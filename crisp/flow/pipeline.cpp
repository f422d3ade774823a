#include "crisp/flow/pipeline.h"

#include <optional>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/text.h"
#include "crisp/flow/evaluate_masks.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/flow/pipeline_report.h"
#include "crisp/flow/predict.h"
#include "crisp/flow/relabel_seeds.h"
#include "crisp/flow/run_folder.h"
#include "crisp/flow/stages.h"
#include "crisp/flow/step_time.h"
#include "crisp/flow/training_setup.h"
#include "crisp/model/load.h"
#include "crisp/model/vit_config.h"
#include "crisp/tensor/onednn.h"

namespace crisp::flow {
namespace {

constexpr double kQuickTags = 4500, kQuickCrops = 4000;  // photos a quick run learns from, repeats counted
constexpr double kVitTags = 14640, kVitCropsQuick = 4800, kVitCrops = 17600;  // the same of runs on a ViT

// What of a training's effective configuration decides its result: all but who computes it, where to, and what is
// shown meanwhile.
std::string deciding(const std::string& config) {
  if (config.empty()) throw Error("a stage without its configuration: nobody could say when it must be made again");
  std::string kept;
  for (const std::string& line : split_lines(config)) {
    const std::string key = line.substr(0, line.find('='));
    if (key == "device" || key == "threads" || key == "quiet" || key == "out" || key == "checkpoint-every" ||
        key == "features" || key == "cache-gb") {
      continue;
    }
    kept += line + "\n";
  }
  return kept;
}

// Numbers of one step of the pipeline, kept beside it.
metric::Metrics scored(const Evaluation& evaluation, const Path& out, const PipelineOptions& options,
                       const std::string& title) {
  const FinishedEvaluation finished = finish(evaluation, options.threads);
  write_evaluation(evaluation, finished, out, {title, options.command, options.config});
  return finished.metrics;
}

// What measurements speak for (docs/method.md, docs/results/voc12.md). Every pixel counts, and counts alike: where
// labels made from tags are wrong, students are seldom unsure. What a teacher draws too wide, refinement draws back.
void depart_from_paper(StudentOptions& o) {
  o.fusion = "mixed";
  o.propagate = 10;
  o.task.phases.weighting = 1;
  o.task.phases.drop_first = o.task.phases.drop_last = 0;
  o.task.loss.heteroscedastic = 0.1;  // enough for variances to be learned; more costs masks
  o.task.loss.dice = 0.3;             // more draws masks wide and sure of themselves
  o.task.loss.edges = 4;              // what is learned at edges is learned: inside and outside are easy
  if (!model::is_vit(o.arch)) {       // students on a ViT know what a photo shows, and are not too sure of themselves
    o.task.loss.presence = 1;
    o.task.loss.doubt = 0.3;  // what was unsure about a label goes on to the student
  }
  o.task.relabel.keep_first = o.task.relabel.keep_last = 1;
  o.task.relabel.trust = 0.5;
  o.task.relabel.found_at_least = 0.5;
}

// On a frozen ViT little is learned, and from features that are there already: minutes, whatever the preset.
void take_vit(bool quick, bool gpu, PipelineOptions& o) {
  apply_arch(o.classifier.arch, o.classifier);
  apply_arch(o.student.arch, o.student);
  o.classifier.trainer.epochs = o.student.trainer.epochs = 0;  // by the number of photos: see fill_pipeline
  o.classifier.trainer.validate_every = 5;
  o.seeds.seed.batch = 1;
  o.student.task.batch = 16;
  o.student.trainer.amp = gpu || tensor::cpu_has_bf16() ? "bf16" : "f32";
  o.student.trainer.ema_decay = quick ? 0.97 : 0.99;
  o.student.trainer.validate_every = 0;  // minutes long, and measured at the end
  o.student.task.relabel.checked = true;
}

class Pipeline {
 public:
  Pipeline(const PipelineOptions& options, torch::Device device, const std::function<bool()>& stop)
      : options_(options),
        device_(device),
        stop_(stop),
        dataset_(
            open_tagged(options.data, options.split, options.tags_from, options.tags, options.seed, options.threads)),
        val_(held_out_split(dataset_, options.val, options.split)),
        lock_(options.out),
        stages_(options.out) {}

  PipelineResult run() {
    write_atomic(options_.out / "config.toml", options_.config);
    announce();
    PipelineResult result;
    if (!classify() || !seeds() || !student() || !evaluate() || !predict()) return result;
    result = {.complete = true,
              .model = out("student") / "model.safetensors",
              .masks = out("masks"),
              .report = out("report.html"),
              .val = val_};
    write_report(result);
    if (options_.drop_features) std::filesystem::remove_all(options_.features.folder);
    return result;
  }

 private:
  Path out(const std::string& name) const { return options_.out / name; }

  bool has_masks(const std::string& split) const {
    if (split.empty()) return false;
    const std::vector<data::Sample> samples = dataset_.samples(split);
    return std::any_of(samples.begin(), samples.end(), [](const data::Sample& s) { return s.has_mask(); });
  }

  void announce() const {
    const std::vector<data::Sample> samples = dataset_.samples(options_.split);
    log_info("{}: {} photos to learn from, {} classes; preset {}: {}, zoom {}, crop {}, {} + {} epochs, on {}",
             options_.data.string(), samples.size(), dataset_.classes.size() - 1, options_.preset,
             options_.student.arch, options_.student.zoom, options_.student.task.augment.crop,
             options_.classifier.trainer.epochs, options_.student.trainer.epochs,
             device_.is_cuda() ? "the GPU" : fmt::format("{} CPU threads", options_.threads));
    const double held_out = val_.empty() ? 0 : static_cast<double>(dataset_.samples(val_).size());
    const double seconds =
        seconds_of_run(options_, {static_cast<double>(samples.size()), held_out},
                       measure_step_times(options_, dataset_.classes, typical_side(samples), device_));
    log_info("this will take about {} (from the time of a step on this machine)", format_duration(seconds));
  }

  bool classify() {
    const Path folder = out("classifier");
    return stages_.run("classify", deciding(options_.classifier.config), {folder}, [&] {
      ClassifierOptions o = options_.classifier;
      o.out = folder;
      o.resume = is_run_folder(folder);
      if (o.resume && read_run(folder).complete) return true;
      return train_classifier(o, device_, stop_);
    });
  }

  bool seeds() {
    return stages_.run("seeds", options_json(options_.seeds), {out("seeds")}, [&] {
      SeedsOptions o = options_.seeds;
      o.out = out("seeds");
      return make_seed_folder(o, device_, stop_).has_value();
    });
  }

  bool student() {
    const Path folder = out("student");
    return stages_.run("train", deciding(options_.student.config), {folder}, [&] {
      StudentOptions o = options_.student;
      o.out = folder;
      o.resume = is_run_folder(folder);
      if (o.resume && read_run(folder).complete) return true;
      return train_student(o, device_, stop_).complete;
    });
  }

  // Seeds of the held-out photos, their tags known: what the student, which does not know them, is compared with.
  // `raw`: as the classifier has them, nothing spread and nothing refined.
  bool held_out_seeds(const std::string& name, bool raw) {
    SeedsOptions o = options_.seeds;
    o.split = val_;
    o.out = out("scored") / name;
    if (raw) {
      o.seed.refine.chain.clear();
      o.cam.similarity = 0;
      o.crossfit = 0;
    }
    if (o.seed.refine.has(seed::Refinement::kAffinity)) o.affinity = out("seeds") / "affinity";
    return make_seed_folder(o, device_, stop_).has_value();
  }

  // The student's masks of the held-out photos where it is told their tags, as seeds are.
  void student_told_tags(const Path& out_folder) {
    RelabelSeedsOptions o;
    o.data = options_.data;
    o.split = val_;
    o.tags_from = options_.tags_from;
    o.tags = options_.tags;
    o.model = out("student");
    o.out = out_folder;
    o.features = options_.student.features;
    o.workers = options_.threads;
    o.batch = options_.seeds.seed.batch;
    o.seed = options_.seed;
    o.command = options_.command;
    o.relabel.passes = 1;
    o.relabel.all = true;
    relabel_seeds(o, device_);
  }

  bool evaluate() {
    return stages_.run("evaluate", val_, {out("scored")}, [&] {
      const Path folder = out("scored");
      make_folder(folder);
      const auto score_masks = [&](const std::string& split, const Path& masks, const std::string& name) {
        const Truth truth = truth_from_dataset(dataset_, split);
        MaskOptions how{.predictions = masks, .threads = options_.threads};
        how.missing_background = true;
        scored(evaluate_masks(truth, how), folder / (name + "_eval"), options_, name);
      };
      if (has_masks(options_.split)) {
        score_masks(options_.split, out("seeds"), "seeds_train");
        if (const auto last = last_relabelled(out("student"))) score_masks(options_.split, *last, "relabelled_train");
      }
      if (!has_masks(val_)) return true;
      const data::Dataset& set = dataset_;
      const std::vector<data::Sample> held = set.samples(val_);
      const bool tagged = std::any_of(held.begin(), held.end(), [](const data::Sample& s) { return s.has_tags; });
      if (tagged) {
        if (!held_out_seeds("cam", true) || !held_out_seeds("seeds", false)) return false;
        score_masks(val_, folder / "cam", "cam_val");
        score_masks(val_, folder / "seeds", "seeds_val");
        student_told_tags(folder / "student_tags");
        score_masks(val_, folder / "student_tags", "student_tags_val");
      }
      model::Segmenter network = model::load_segmenter(out("student"));
      const auto store = open_features(*network->encoder, options_.features, "", device_);
      infer::Predictor predictor(network, device_, torch::kFloat, {});
      ModelOptions how{.out = folder / "student_eval", .batch = 1, .workers = options_.threads};
      how.store = store.get();
      scored(evaluate_model(predictor, truth_from_dataset(dataset_, val_), how), folder / "student_eval", options_,
             "student");
      return true;
    });
  }

  bool predict() {
    return stages_.run("predict", val_, {out("masks")}, [&] {
      infer::InferOptions how;
      model::Segmenter network = model::load_segmenter(out("student"));
      PredictOptions o{.out = out("masks"), .classes = network->config.classes, .workers = options_.threads};
      o.save = {"mask", "overlay", "uncertainty"};
      std::vector<InputImage> photos;
      for (const data::Sample& sample : dataset_.samples(val_.empty() ? options_.split : val_)) {
        photos.push_back({sample.image, sample.id});
      }
      infer::Predictor predictor(network, device_, torch::kFloat, how);
      const PredictReport report = flow::predict(predictor, photos, o);
      for (const SkippedImage& skipped : report.skipped) log_warning("skipped {}", skipped.reason);
      return true;
    });
  }

  void write_report(const PipelineResult& result) {
    PipelineReport report{.options = options_, .dataset = dataset_, .val = val_, .times = stages_.times()};
    write_atomic(result.report, pipeline_report(report, device_));
  }

  const PipelineOptions& options_;
  const torch::Device device_;
  const std::function<bool()>& stop_;
  const data::Dataset dataset_;
  const std::string val_;
  FolderLock lock_;
  Stages stages_;
};

}  // namespace

void apply_pipeline_preset(const std::string& name, torch::Device device, const std::string& arch,
                           const std::string& init, PipelineOptions& o) {
  const bool gpu = device.is_cuda();
  const bool quick = name == "quick", paper = name == "paper";
  if (!quick && !paper && name != "standard") {
    throw UsageError("--preset {}: it is quick, standard or paper", name);
  }
  const std::string chosen = !arch.empty() ? arch : paper ? "mit_b5" : "vit_s14";
  const bool on_vit = model::is_vit(chosen);
  o.classifier.arch = o.student.arch = chosen;
  o.classifier.init = o.student.init = init;
  o.classifier.trainer.amp = o.student.trainer.amp = gpu ? "bf16" : "f32";
  o.student.task.amp = gpu ? torch::kBFloat16 : torch::kFloat;
  o.seeds.seed.batch = o.student.task.infer_batch = gpu ? 8 : 1;
  o.classifier.pooling = "top";  // asks for the most telling cells: maps stay on the objects
  o.classifier.top_share = 0.2;
  o.classifier.task.mosaic = 0.5;
  o.classifier.task.augment = light_augmentation();
  o.student.task.augment.crop = -1;
  o.student.zoom = 0;  // by the photos' size: see fill_pipeline
  apply_preset(paper ? "paper" : "segformer", o.student);
  if (quick) {
    // Few steps want high rates, and a teacher that keeps up.
    o.classifier.trainer.epochs = o.student.trainer.epochs = 0;  // by the number of photos: see fill_pipeline
    o.classifier.trainer.validate_every = 5;
    o.classifier.task.encoder_rate = 2e-4;
    o.classifier.task.head_rate = 2e-3;
    o.seeds.cam.scales = {1, 1.5};
    o.student.trainer.validate_every = 4;
    o.student.trainer.ema_decay = 0.97;
    o.student.task.encoder_rate = 3e-4;
    o.student.task.head_rate = 3e-3;
    o.student.task.batch = 4;
    o.student.width = 128;
    o.student.relabel_refine = "par";
    o.student.task.relabel.from = 0.6;  // once: a round takes as long as a third of the steps
    o.student.task.relabel.every = 0.5;
    o.student.task.relabel.passes = 2;
    o.student.task.augment.scale_low = 0.75;
    o.student.task.augment.scale_high = 1.5;
  } else {
    o.classifier.task.encoder_rate = 6e-5;
    o.classifier.task.head_rate = 6e-4;
    o.student.trainer.validate_every = 5;
    o.student.relabel_refine = paper ? "none" : "par";
  }
  if (on_vit) take_vit(quick, gpu, o);
  if (!paper) depart_from_paper(o.student);
  if (name == "standard") {
    o.student.task.relabel.from = 0.4;
    o.student.task.relabel.every = 0.3;
    o.student.task.relabel.flip = true;
  }
  if (on_vit && !paper) {  // once: labels hardly change, and only with the seeds' own word do they not get worse
    o.student.task.relabel.every = 0.7;
    o.student.task.relabel.passes = 4;
    o.student.task.relabel.trust = 1;
  }
}

void fill_pipeline(PipelineOptions& o) {
  const data::Dataset dataset = open_tagged(o.data, o.split, o.tags_from, o.tags, o.seed, o.threads);
  const int crop = default_crop(dataset.samples(o.split));
  if (o.classifier.task.augment.crop < 0) o.classifier.task.augment.crop = crop;
  if (model::is_vit(o.student.arch)) o.student.zoom = 1;  // its own square is what it sees of every photo
  if (o.student.zoom == 0) {  // small photos are brought near the size the encoder was made for
    const double wanted = o.preset == "quick" ? 320 : 480;
    o.student.zoom = std::clamp(std::round(4 * wanted / typical_side(dataset.samples(o.split))) / 4, 1.0, 2.0);
  }
  const int student_crop = o.student.task.augment.crop;
  o.student.task.augment.crop = zoomed_crop(student_crop > 0 ? student_crop : crop == 448 ? 512 : crop, o.student.zoom);
  // A quick run looks at a fixed number of photos, however many there are.
  const auto photos = static_cast<double>(dataset.samples(o.split).size());
  const auto epochs = [&](double looked_at) { return std::clamp<int64_t>(std::lround(looked_at / photos), 2, 40); };
  const bool on_vit = model::is_vit(o.student.arch), quick = o.preset == "quick";
  const double tags = on_vit ? kVitTags : kQuickTags;
  const double crops = !on_vit ? kQuickCrops / o.student.zoom : quick ? kVitCropsQuick : kVitCrops;
  if (o.classifier.trainer.epochs == 0) o.classifier.trainer.epochs = epochs(tags);
  if (o.student.trainer.epochs == 0) o.student.trainer.epochs = epochs(crops);
  o.classifier.data = o.seeds.data = o.student.data = o.data;
  o.classifier.split = o.seeds.split = o.student.split = o.split;
  o.classifier.val = o.student.val = o.val;
  o.classifier.tags_from = o.seeds.tags_from = o.student.tags_from = o.tags_from;
  o.classifier.tags = o.seeds.tags = o.student.tags = o.tags;
  o.classifier.command = o.seeds.command = o.student.command = o.command;
  o.classifier.task.seed = o.classifier.trainer.seed = o.seeds.random_seed = o.student.task.seed =
      o.student.trainer.seed = o.seeds.affinity_task.seed = o.seeds.affinity_trainer.seed = o.seed;
  o.classifier.task.workers = o.seeds.seed.workers = o.student.task.workers = o.seeds.affinity_task.workers = o.threads;
  if (o.features.folder.empty()) o.features.folder = o.out / "features";
  o.classifier.features = o.seeds.features = o.student.features = o.features;
  o.seeds.classifiers = {o.out / "classifier"};
  o.seeds.affinity_trainer.epochs = 3;
  o.seeds.affinity_trainer.amp = o.student.trainer.amp;
  o.seeds.affinity_task.augment = o.classifier.task.augment;
  o.student.seeds = o.out / "seeds";
  // A training has no steps to spare for what the classifier knows already.
  if (o.preset != "paper") o.student.init = (o.out / "classifier").string();
}

PipelineResult run_pipeline(const PipelineOptions& options, torch::Device device, const std::function<bool()>& stop) {
  return Pipeline(options, device, stop).run();
}

}  // namespace crisp::flow
