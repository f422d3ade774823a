#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/training_options.h"
#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/flow/evaluate_masks.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/flow/features.h"
#include "crisp/flow/seen_photos.h"
#include "crisp/model/load.h"
#include "crisp/report/terminal.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

using Words = std::vector<std::string>;

struct EvalOptions {
  std::string pred, model, truth, instances, data, split, images, classes, title, dtype = "f32", palette = "none";
  std::string resize_pred = "error", missing = "error", unlabelled = "auto", crowds = "class";
  Words only = {"all"}, save = {"nothing"};
  Path out;
  metric::Options metric;
  infer::InferOptions how;
  int64_t batch = 1, max_pixels = image::DecodeLimits{}.max_pixels;
  bool json = false;
  flow::FeatureOptions features;
};

void bind(CLI::App& app, EvalOptions& o) {
  const char* what = "What is measured";
  app.add_option("--pred", o.pred, "masks to score: a folder of PNG files, or a seed folder")->group(what);
  app.add_option("--model", o.model, "or a model to run: model file, run folder, hub folder")->group(what);
  app.add_option("--out", o.out, "folder for numbers, tables and report.html")->required()->group(what);
  app.add_option("--title", o.title, "heading of the report")->group(what);
  const char* against = "Measured against";
  app.add_option("--truth", o.truth, "a folder of PNG masks (needs --classes)")->group(against);
  app.add_option("--data", o.data, "or a data set: VOC, COCO or folder layout")->group(against);
  app.add_option("--instances", o.instances, "or COCO's instances_*.json, rasterised")->group(against);
  app.add_option("--split", o.split, "--data: name of the split (val); else a file with a name a line")->group(against);
  app.add_option("--classes", o.classes, "a file of names, the background first; a number; or voc")->group(against);
  app.add_option("--images", o.images, "folder of the photos, for the report or for --model")->group(against);
  app.add_option("--crowds", o.crowds, "crowd regions of --instances and COCO data: class or ignore")->group(against);
  const char* traps = "Masks that do not fit";
  app.add_option("--ignore", o.metric.ignore, "truth label that is not scored; -1 for none")->group(traps);
  app.add_option("--resize-pred", o.resize_pred, "a prediction of another size: nearest or error")->group(traps);
  app.add_option("--missing", o.missing, "a prediction that is not there: background or error")->group(traps);
  app.add_option("--unlabelled", o.unlabelled,
                 "predicted 255: miss, both (as background; left out) or auto (seeds: both)")
      ->group(traps);
  app.add_option("--palette", o.palette, "RGB masks: none refuses them, voc looks their colours up")->group(traps);
  const char* numbers = "Numbers";
  app.add_option("--only", o.only, "of miou, boundary, shape, small-objects, calibration; or all")
      ->delimiter(',')
      ->group(numbers);
  app.add_option("--boundary-tolerance", o.metric.boundary_tolerance, "boundary F1: pixels")->group(numbers);
  app.add_option("--boundary-diagonal", o.metric.boundary_diagonal, "instead, a fraction of the diagonal")
      ->group(numbers);
  app.add_option("--band-diagonal", o.metric.band_diagonal, "boundary IoU: width of the band")->group(numbers);
  app.add_option("--ece-bins", o.metric.ece_bins, "bins of the reliability curve")->group(numbers);
  app.add_option("--small-object-pixels", o.metric.small_object_pixels, "an object is small below this")
      ->group(numbers);
  app.add_option("--shape-min-pixels", o.metric.shape_min_pixels, "smaller masks have no shape")->group(numbers);
  app.add_option("--bootstrap", o.metric.bootstrap_draws, "draws for the intervals; 0 for none")->group(numbers);
  app.add_flag("--json", o.json, "metrics.json on stdout instead of the table")->group(numbers);
  const char* model = "Running a model";
  app.add_option("--scales", o.how.scales, "image scales whose probabilities are averaged")
      ->delimiter(',')
      ->group(model);
  app.add_flag("--flip", o.how.flip, "each scale mirrored too")->group(model);
  app.add_flag("--full-size", o.how.full_size,
               "large photos as they are; else at most at twice the size of what the model learned from")
      ->group(model);
  app.add_option("--tile", o.how.tiling.tile, "work in tiles of this side; 0: whole photos")->group(model);
  app.add_option("--overlap", o.how.tiling.overlap, "pixels that neighbouring tiles share")->group(model);
  app.add_option("--batch", o.batch, "photos of one size at once")->check(CLI::Range(1, 1024))->group(model);
  app.add_option("--dtype", o.dtype, "f32, bf16 or fp16")->group(model);
  app.add_option("--save", o.save, "keep of mask, uncertainty; or nothing")->delimiter(',')->group(model);
  app.add_option("--max-pixels", o.max_pixels, "skip larger photos (decompression bombs)")->group(model);
}

// A word from a list, or a UsageError that shows the list.
template <typename Value>
Value choose(const char* option, const std::string& word,
             std::initializer_list<std::pair<const char*, Value>> choices) {
  Words known;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    known.emplace_back(name);
  }
  throw UsageError("{} {}: it is one of {}", option, word, join(known, ", "));
}

std::set<std::string> choose_some(const char* option, const Words& words, const Words& known) {
  std::set<std::string> chosen;
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError("{} {}: it is one of {}", option, word, join(known, ", "));
    }
    chosen.insert(word);
  }
  return chosen;
}

int given(std::initializer_list<const std::string*> options) {
  return static_cast<int>(
      std::count_if(options.begin(), options.end(), [](const auto* text) { return !text->empty(); }));
}

image::MaskReading mask_reading(const EvalOptions& o) {
  return {.rgb_palette = choose<const image::Palette*>("--palette", o.palette,
                                                       {{"none", nullptr}, {"voc", &image::voc_palette()}})};
}

flow::Truth open_truth(const EvalOptions& o, int threads) {
  if (given({&o.truth, &o.data, &o.instances}) != 1) {
    throw UsageError("give what to measure against: one of --truth MASKS, --data DATA, --instances FILE");
  }
  const data::RasteriseOptions how{
      .crowd = choose<data::Crowd>("--crowds", o.crowds,
                                   {{"class", data::Crowd::kClass}, {"ignore", data::Crowd::kIgnore}})};
  const std::optional<Path> list = o.split.empty() ? std::nullopt : std::optional<Path>(o.split);
  if (!o.data.empty()) {
    if (!o.classes.empty()) throw UsageError("--classes: a data set has its own; leave it out with --data");
    const std::string split = o.split.empty() ? "val" : o.split;
    flow::Truth truth = flow::truth_from_dataset(
        data::open_dataset(o.data, {.only_split = split, .rasterise = how, .lenient = true, .threads = threads}),
        split);
    if (!o.images.empty()) flow::add_photos(truth, o.images);
    return truth;
  }
  flow::Truth truth;
  if (!o.truth.empty()) {
    if (o.classes.empty()) throw UsageError("--truth needs --classes: a file of names, a number, or voc");
    truth = flow::truth_from_folder(o.truth, read_classes(o.classes), list, mask_reading(o));
  } else {
    std::optional<ClassNames> classes;
    if (!o.classes.empty()) classes = read_classes(o.classes);
    truth = flow::truth_from_instances(o.instances, classes, list, how);
  }
  if (!o.images.empty()) flow::add_photos(truth, o.images);
  return truth;
}

flow::Evaluation score_masks(const EvalOptions& o, const flow::Truth& truth, const metric::Options& numbers,
                             int threads) {
  using Unlabelled = flow::MaskOptions::Unlabelled;
  flow::MaskOptions options{.predictions = o.pred, .metric = numbers, .reading = mask_reading(o), .threads = threads};
  options.resize_nearest = choose<bool>("--resize-pred", o.resize_pred, {{"error", false}, {"nearest", true}});
  options.missing_background = choose<bool>("--missing", o.missing, {{"error", false}, {"background", true}});
  options.unlabelled =
      choose<Unlabelled>("--unlabelled", o.unlabelled,
                         {{"auto", Unlabelled::kAuto}, {"miss", Unlabelled::kMiss}, {"both", Unlabelled::kBoth}});
  return flow::evaluate_masks(truth, options);
}

std::string describe_passes(const infer::InferOptions& how, const std::string& dtype) {
  Words scales;
  for (const double scale : how.scales) scales.push_back(fmt::format("{}", scale));
  return fmt::format(
      "inference: scales {}{}{}, {}; logits (one pass) or probabilities (several) brought to the photo's "
      "size bilinearly",
      join(scales, ", "), how.flip ? " with flips" : "",
      how.tiling.tile > 0 ? fmt::format(", tiles of {} overlapping by {}", how.tiling.tile, how.tiling.overlap) : "",
      dtype);
}

flow::Evaluation score_model(const EvalOptions& o, const flow::Truth& truth, const metric::Options& numbers,
                             bool certainty, const CommandLine& line) {
  flow::ModelOptions options{.metric = numbers,
                             .certainty = certainty,
                             .out = o.out,
                             .batch = o.batch,
                             .workers = line.threads,
                             .limits = {o.max_pixels}};
  options.save = choose_some("--save", o.save, {"nothing", "mask", "uncertainty"});
  infer::check(o.how);
  const torch::Device device = tensor::parse_device(line.device);
  const torch::ScalarType type = tensor::parse_dtype(o.dtype);
  model::Segmenter network = model::load_segmenter(o.model);
  const std::shared_ptr<feature::Store> store = flow::open_features(*network->encoder, o.features, "", device);
  options.store = store.get();
  infer::Predictor predictor(network, device, type, o.how);
  flow::Evaluation evaluation = flow::evaluate_model(predictor, truth, options);
  evaluation.notes.push_back(describe_passes(o.how, o.dtype));
  std::vector<std::string> names;
  for (const data::NamedMask& mask : truth.masks) names.push_back(mask.name);
  for (const std::string& warning : flow::seen_before(o.model, names)) {
    log_warning("{}", warning);
    evaluation.notes.push_back("SEEN BEFORE: " + warning);
  }
  return evaluation;
}

std::string default_title(const EvalOptions& o) {
  const auto name = [](const std::string& path) { return Path(path).lexically_normal().generic_string(); };
  const std::string truth = !o.truth.empty() ? o.truth : !o.data.empty() ? o.data : o.instances;
  std::string title = fmt::format("{} against {}", name(o.pred.empty() ? o.model : o.pred), name(truth));
  const std::string split = o.data.empty() ? Path(o.split).stem().string() : o.split.empty() ? "val" : o.split;
  return split.empty() ? title : fmt::format("{}, {}", title, split);
}

}  // namespace

int run_eval(const Arguments& arguments) {
  CommandLine line(
      "eval",
      "Measures masks or a model: regions, boundaries, shape, small objects and, for a model, confidence, each "
      "with a 95% interval. Writes OUT/metrics.json, per_class.csv, per_image.csv, confusion.csv, report.html "
      "and scores.json (for `crispformer compare`), and prints the table.",
      "  crispformer eval --pred masks/ --truth VOC2012/SegmentationClass --classes voc --split val.txt --out scores\n"
      "  crispformer eval --pred masks/ --data VOC2012 --split val --out scores\n"
      "  crispformer eval --pred seeds/ --data VOC2012 --split train --out scores\n"
      "  crispformer eval --pred masks/ --instances instances_val2017.json --out scores --missing background\n"
      "  crispformer eval --model runs/mine --data VOC2012 --split val --out scores --scales 0.5,1,1.5 --flip\n");
  EvalOptions o;
  bind(line.app, o);
  bind_features(line.app, o.features);
  if (!line.parse(arguments)) return 0;
  if (given({&o.pred, &o.model}) != 1) throw UsageError("give what to measure: either --pred MASKS or --model MODEL");
  const std::set<std::string> only =
      choose_some("--only", o.only, {"all", "miou", "boundary", "shape", "small-objects", "calibration"});
  const auto wanted = [&](const char* group) { return only.contains("all") || only.contains(group); };
  metric::Options numbers = o.metric;
  numbers.boundary = wanted("boundary");
  numbers.shape = wanted("shape");
  numbers.small_objects = wanted("small-objects");
  numbers.seed = line.seed;
  metric::check(numbers);

  const flow::Truth truth = open_truth(o, line.threads);
  make_folder(o.out);
  const flow::Evaluation evaluation = o.model.empty() ? score_masks(o, truth, numbers, line.threads)
                                                      : score_model(o, truth, numbers, wanted("calibration"), line);
  const flow::FinishedEvaluation finished = flow::finish(evaluation, line.threads);
  flow::write_evaluation(evaluation, finished, o.out,
                         {.title = o.title.empty() ? default_title(o) : o.title,
                          .command = as_typed("eval", arguments),
                          .config = line.effective_config()});
  if (o.json) {
    fmt::print("{}", finished.json);
  } else {
    fmt::print(
        "{}", report::to_text(finished.metrics, evaluation.classes, finished.left_out ? &*finished.left_out : nullptr));
  }
  log_info("{} has the report, {} every number", (o.out / "report.html").string(), (o.out / "metrics.json").string());
  const size_t unreadable = evaluation.skipped.size() - (o.model.empty() ? 0 : truth.without_mask.size());
  if (!truth.without_mask.empty()) {
    log_info("{} image(s) have no mask and take no part: {}", truth.without_mask.size(),
             join_some(truth.without_mask, 4));
  }
  if (unreadable == 0) return 0;
  throw Error("{} of {} photos could not be read: the numbers are those of the others (metrics.json lists them)",
              unreadable, truth.masks.size());
}

}  // namespace crisp::apps
