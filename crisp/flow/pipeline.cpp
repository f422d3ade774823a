#include "crisp/flow/pipeline.h"

#include <optional>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/text.h"
#include "crisp/flow/evaluate_masks.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/flow/from_recipe.h"
#include "crisp/flow/pipeline_report.h"
#include "crisp/flow/predict.h"
#include "crisp/flow/relabel_seeds.h"
#include "crisp/flow/run_folder.h"
#include "crisp/flow/stages.h"
#include "crisp/flow/step_time.h"
#include "crisp/flow/training_setup.h"
#include "crisp/model/load.h"
#include "crisp/recipe/text.h"

namespace crisp::flow {
namespace {

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
    write_atomic(options_.out / "recipe.toml", recipe::to_toml(options_.recipe, /*comments=*/true));
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
    log_info("{}: {} photos to learn from, {} classes; recipe {}: {}, {} + {} epochs, on {}", options_.data.string(),
             samples.size(), dataset_.classes.size() - 1, options_.recipe.name, options_.student.arch,
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
      o.background.reset();  // maps that are not spread have another
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

void fill_pipeline(PipelineOptions& o, torch::Device device) {
  const data::Dataset dataset = open_tagged(o.data, o.split, o.tags_from, o.tags, o.seed, o.threads);
  const std::vector<data::Sample> photos = dataset.samples(o.split);
  o.recipe = settled(
      o.recipe,
      {.photos = static_cast<int64_t>(photos.size()), .typical_side = typical_side(photos), .gpu = device.is_cuda()});
  take(o.recipe, o.classifier);
  take(o.recipe, o.seeds);
  take(o.recipe, o.student);
  o.classifier.data = o.seeds.data = o.student.data = o.data;
  o.classifier.split = o.seeds.split = o.student.split = o.split;
  o.classifier.val = o.student.val = o.val;
  o.classifier.tags_from = o.seeds.tags_from = o.student.tags_from = o.tags_from;
  o.classifier.tags = o.seeds.tags = o.student.tags = o.tags;
  o.classifier.command = o.seeds.command = o.student.command = o.command;
  o.classifier.task.seed = o.classifier.trainer.seed = o.seeds.random_seed = o.student.task.seed =
      o.student.trainer.seed = o.seeds.affinity_task.seed = o.seeds.affinity_trainer.seed = o.seed;
  o.classifier.task.workers = o.seeds.seed.workers = o.student.task.workers = o.seeds.affinity_task.workers = o.threads;
  o.seeds.seed.batch = o.student.task.infer_batch = device.is_cuda() ? 8 : 1;
  if (o.features.folder.empty()) o.features.folder = o.out / "features";
  o.classifier.features = o.seeds.features = o.student.features = o.features;
  o.seeds.classifiers = {o.out / "classifier"};
  o.student.seeds = o.out / "seeds";
  if (o.recipe.student.model.start == recipe::Start::kClassifier) o.student.init = (o.out / "classifier").string();
}

PipelineResult run_pipeline(const PipelineOptions& options, torch::Device device, const std::function<bool()>& stop) {
  return Pipeline(options, device, stop).run();
}

}  // namespace crisp::flow
