#include "crisp/flow/pipeline_report.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/version.h"
#include "crisp/data/loader.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/flow/training_report.h"
#include "crisp/image/decode.h"
#include "crisp/image/heat_map.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/load.h"
#include "crisp/seed/cam.h"
#include "crisp/tensor/device.h"

namespace crisp::flow {
namespace {

constexpr size_t kRows = 6, kScaleRows = 3;

image::Mask levels(const torch::Tensor& map) {
  const torch::Tensor plain = map.to(torch::kCPU, torch::kFloat).contiguous();
  const float* data = plain.const_data_ptr<float>();
  return image::to_levels({data, data + plain.numel()}, static_cast<int>(plain.size(1)),
                          static_cast<int>(plain.size(0)));
}

image::Mask strongest(const seed::Cams& cams) {
  std::vector<float> most(cams.pixels());
  for (size_t i = 0; i < cams.maps.size(); ++i) {
    most[i % cams.pixels()] = std::max(most[i % cams.pixels()], cams.maps[i]);
  }
  return image::to_levels(most, cams.width, cams.height);
}

// A few photos of a split, chosen by the seed.
std::vector<data::Sample> some(const data::Dataset& dataset, const std::string& split, size_t count, uint64_t seed) {
  if (split.empty()) return {};
  const std::vector<data::Sample> all = dataset.samples(split);
  std::vector<data::Sample> chosen;
  for (const size_t place : data::shuffled(all.size(), Rng(seed))) {
    if (chosen.size() == count) break;
    if (all[place].has_tags && !all[place].tags.empty()) chosen.push_back(all[place]);
  }
  return chosen;
}

class Pictures {
 public:
  Pictures(const PipelineReport& run, torch::Device device)
      : run_(run),
        device_(device),
        student_(model::load_segmenter(run.options.out / "student")),
        cams_(load_classifiers(run.options.seeds.classifiers), device, torch::kFloat, run.options.seeds.cam),
        seeds_(run.options.out / "seeds"),
        predictor_(student_, device, torch::kFloat, {.boundary = student_->config.head.boundary}) {
    if (const auto last = last_relabelled(run.options.out / "student")) relabelled_.emplace(*last);
  }

  report::SheetRow path(const data::Sample& sample, const std::string& note) {
    const image::Image photo = image::read_image(sample.image);
    report::SheetRow row{.name = sample.id, .tags = {}, .note = note, .pictures = {}};
    for (const int tag : sample.tags) row.tags.push_back(run_.dataset.classes[static_cast<size_t>(tag)]);
    row.pictures.push_back(report::sheet_photo("Photo", photo));
    row.pictures.push_back(
        report::sheet_activation("Activation", photo, strongest(cams_.run({photo}, {sample.tags})[0])));
    if (seeds_.has(sample.id)) {
      row.pictures.push_back(report::sheet_labels("Seed", photo, seeds_.read(sample.id).labels));
    }
    if (relabelled_ && relabelled_->has(sample.id)) {
      row.pictures.push_back(report::sheet_labels("Relabelled", photo, relabelled_->read(sample.id).labels));
    }
    const infer::Result result = predictor_.run({photo})[0];
    row.pictures.push_back(report::sheet_labels("Student", photo, result.labels));
    row.pictures.push_back(report::sheet_levels("Uncertainty", levels(result.uncertainty)));
    if (result.boundary.defined()) row.pictures.push_back(report::sheet_levels("Boundary", levels(result.boundary)));
    if (sample.has_mask()) {
      row.pictures.push_back(report::sheet_labels("Truth", photo, run_.dataset.read_mask(sample)));
    }
    return row;
  }

  std::optional<report::SheetRow> scale_weights(const data::Sample& sample) {
    const torch::InferenceMode inference;
    const image::Image photo = image::read_image(sample.image);
    const model::EncoderConfig& encoder = student_->config.encoder;
    const torch::Tensor pixels = infer::as_seen(encoder, {photo}, device_, torch::kFloat);
    const model::Prediction said =
        student_->forward(encoder.vit ? pixels : infer::rescaled(pixels, student_->config.head.zoom));
    if (!said.scale_weights.defined()) return std::nullopt;
    report::SheetRow row{.name = sample.id, .tags = {}, .note = "", .pictures = {}};
    constexpr std::array kScales = {"1/4", "1/8", "1/16", "1/32"};
    for (size_t i = 0; i < kScales.size(); ++i) {
      row.pictures.push_back(report::sheet_levels(kScales[i], levels(said.scale_weights[0][static_cast<int64_t>(i)])));
    }
    return row;
  }

 private:
  const PipelineReport& run_;
  const torch::Device device_;
  model::Segmenter student_;
  seed::CamMaker cams_;
  data::SeedFolder seeds_;
  std::optional<data::SeedFolder> relabelled_;
  infer::Predictor predictor_;
};

}  // namespace

std::optional<Path> last_relabelled(const Path& student_run) {
  std::optional<Path> last;
  const Path folder = student_run / "relabelled";
  if (!std::filesystem::is_directory(folder)) return last;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool finished = data::is_seed_folder(entry.path()) && data::SeedFolder(entry.path(), true).facts().complete;
    if (finished && (!last || entry.path() > *last)) last = entry.path();
  }
  return last;
}

std::vector<report::PipelineScores> pipeline_scores(const PipelineReport& run) {
  struct Step {
    const char *folder, *name;
    std::string images, note;
  };
  const std::string& train = run.options.split;
  const std::vector<Step> steps = {
      {"seeds_train_eval", "first seeds", train, "tags known"},
      {"relabelled_train_eval", "relabelled", train, "tags known"},
      {"cam_val_eval", "raw activation maps", run.val + ", held out", "tags known"},
      {"seeds_val_eval", "refined seeds", run.val + ", held out", "tags known"},
      {"student_tags_val_eval", "student, told the tags", run.val + ", held out", "tags known"},
      {"student_eval", "student", run.val + ", held out", "no tags, one pass"},
  };
  std::vector<report::PipelineScores> scores;
  for (const Step& step : steps) {
    const Path folder = run.options.out / "scored" / step.folder;
    if (!std::filesystem::exists(folder / "scores.json")) continue;
    scores.push_back({step.name, step.images, step.note, read_evaluation(folder).scores.finish(run.options.threads)});
  }
  return scores;
}

std::vector<std::string> warnings_of(const std::vector<report::PipelineScores>& scores) {
  constexpr double kToldTags = 1, kUntold = 4, kEce = 6;  // points
  const auto find = [&](const char* name) -> const metric::Metrics* {
    for (const report::PipelineScores& one : scores) {
      if (one.name == name) return &one.metrics;
    }
    return nullptr;
  };
  const metric::Metrics *seeds = find("refined seeds"), *told = find("student, told the tags"),
                        *student = find("student");
  std::vector<std::string> warnings;
  if (student == nullptr) return warnings;
  const auto lost = [&](const metric::Metrics* one) {
    return seeds && one && seeds->miou && one->miou ? *seeds->miou - *one->miou : 0;
  };
  if (lost(told) > kToldTags) {
    warnings.push_back(
        fmt::format("Told the tags, the student is {:.1f} points of mIoU below the seeds: it has not learned all that "
                    "they know. Let it learn longer: set student.schedule.epochs, or take the recipe standard.",
                    lost(told)));
  }
  if (lost(student) > kUntold) {
    warnings.push_back(
        fmt::format("Without tags the student is {:.1f} points of mIoU below the seeds, which know them: it takes "
                    "classes for one another. More photos of the classes with the lowest figures help most; so do "
                    "tags that name everything a photo shows.",
                    lost(student)));
  }
  if (student->ece && *student->ece > kEce) {
    warnings.push_back(
        fmt::format("The student is surer than it is right (ECE {:.1f}): seeds are wrong in the same way in many "
                    "photos. Look at them on this page; their uncertainty says where.",
                    *student->ece));
  }
  return warnings;
}

std::string pipeline_report(const PipelineReport& run, torch::Device device) {
  const PipelineOptions& o = run.options;
  Pictures pictures(run, device);
  report::PipelinePage page;
  page.title = o.data.lexically_normal().filename().string();
  if (page.title.empty()) page.title = o.data.lexically_normal().parent_path().filename().string();
  page.lead = "From photos and tags to a model that cuts out every object.";
  page.facts = {{"photos", std::to_string(run.dataset.samples(o.split).size())},
                {"classes", std::to_string(run.dataset.classes.size() - 1)},
                {"encoder", o.student.arch},
                {"recipe", o.recipe.name},
                {"device", tensor::device_name(device)}};
  page.predict_command =
      fmt::format("crispformer predict photo.jpg --model {} --out cut", (o.out / "student").string());
  page.outputs = {{"model", (o.out / "student" / "model.safetensors").string()},
                  {"masks", (o.out / "masks").string()},
                  {"seeds", (o.out / "seeds").string()}};
  page.scores = pipeline_scores(run);
  if (!page.scores.empty()) {
    page.notes.emplace_back(
        "Masks were used for these numbers alone: not for training, not for choosing the model, not for thresholds.");
  }
  for (std::string& warning : warnings_of(page.scores)) page.notes.push_back("Warning. " + std::move(warning));
  page.classes = run.dataset.classes;
  const size_t from_train = run.val.empty() ? kRows : kRows / 2;
  for (const data::Sample& sample : some(run.dataset, o.split, from_train, o.seed)) {
    page.path.push_back(pictures.path(sample, "learned from"));
  }
  const std::vector<data::Sample> held = some(run.dataset, run.val, kRows - from_train, o.seed);
  for (const data::Sample& sample : held) page.path.push_back(pictures.path(sample, "held out"));
  for (const data::Sample& sample : held.empty() ? some(run.dataset, o.split, kScaleRows, o.seed) : held) {
    if (page.scale_weights.size() == kScaleRows) break;
    if (auto row = pictures.scale_weights(sample)) page.scale_weights.push_back(std::move(*row));
  }
  page.curves = student_curves(o.out / "student");
  for (report::PipelineCurves& one : classifier_curves(o.out / "classifier")) page.curves.push_back(std::move(one));
  page.times = run.times;
  page.config = o.config;
  page.command = o.command;
  page.version = version();
  page.commit = commit();
  return report::pipeline_page(page);
}

}  // namespace crisp::flow
