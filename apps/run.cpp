#include <fmt/format.h>

#include "apps/classifier_options.h"
#include "apps/command_line.h"
#include "apps/recipe_options.h"
#include "apps/student_options.h"
#include "apps/training_options.h"
#include "crisp/base/interrupt.h"
#include "crisp/base/log.h"
#include "crisp/flow/pipeline.h"
#include "crisp/flow/pipeline_report.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

void print_scores(const std::vector<report::PipelineScores>& scores) {
  if (scores.empty()) return;
  const auto cell = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}", *value) : std::string("-");
  };
  fmt::print("\n{:<22} {:<16} {:>7} {:>7} {:>12} {:>6}\n", "labels", "photos", "mIoU", "mDice", "boundary F1", "ECE");
  for (const report::PipelineScores& step : scores) {
    fmt::print("{:<22} {:<16} {:>7} {:>7} {:>12} {:>6}\n", step.name, step.images, cell(step.metrics.miou),
               cell(step.metrics.mdice), cell(step.metrics.boundary_f1), cell(step.metrics.ece));
  }
}

// What the two trainings are made with, beside them: `classify` and `train` read it with --config.
void keep_configurations(flow::PipelineOptions& o) {
  const auto written = [&](const char* command, const auto& bind) {
    CommandLine line(command, "", "");
    line.seed = o.seed;
    line.app.get_option("--seed")->capture_default_str();
    bind(line.app);
    return line.effective_config();
  };
  o.classifier.out = o.out / "classifier";
  o.classifier.config = written("classify", [&](CLI::App& app) { bind_classifier(app, o.classifier); });
  o.student.out = o.out / "student";
  o.student.config = written("train", [&](CLI::App& app) {
    bind_student_run(app, o.student);
    bind_student(app, o.student);
  });
}

}  // namespace

int run_run(const Arguments& arguments) {
  CommandLine line(
      "run",
      "The whole way in one command: learns the tags, finds where they are, trains a CrispFormer that relabels its own "
      "training data, measures it where masks exist, predicts masks and writes OUT/report.html. Stopped or changed, "
      "the same command goes on from where it must.",
      "  crispformer run --data photos/ --out runs/mine --recipe quick\n"
      "  crispformer run --data VOC2012 --split train_aug --recipe voc12 --out runs/voc\n"
      "  crispformer run --data photos/ --recipe mine.toml --set loss.edge_weight=2 --out runs/mine\n");
  flow::PipelineOptions o;
  RecipeWords words;
  bind_tagged_data(line.app, o);
  line.app.add_option("--out", o.out, "folder for everything")->required();
  bind_recipe(line.app, words);
  bind_features(line.app, o.features);
  bind_flag(line.app, "--drop-features", o.drop_features, "remove them at the end; what changes is then made anew")
      ->group("Features of a frozen encoder (vit_s14)");
  if (!line.parse(arguments)) return 0;

  const torch::Device device = tensor::parse_device(line.device);
  o.recipe = recipe_of(words);
  o.seed = line.seed;
  o.threads = line.threads;
  o.command = as_typed("run", arguments);
  o.config = line.effective_config();
  flow::fill_pipeline(o, device);
  keep_configurations(o);
  const InterruptGuard interrupt;
  const flow::PipelineResult result = flow::run_pipeline(o, device, [&] { return interrupt.requested(); });
  if (!result.complete) {
    fmt::print("stopped and saved; the same command goes on\n");
    return 130;
  }
  const data::Dataset dataset = flow::open_tagged(o.data, o.split, o.tags_from, o.tags, o.seed, o.threads);
  const std::vector<report::PipelineScores> scores = flow::pipeline_scores({o, dataset, result.val, {}});
  print_scores(scores);
  for (const std::string& warning : flow::warnings_of(scores)) log_warning("{}", warning);
  fmt::print("\nmodel   {}\nmasks   {}\nreport  {}\n\nuse it: crispformer predict photo.jpg --model {} --out cut\n",
             result.model.string(), result.masks.string(), result.report.string(), (o.out / "student").string());
  return 0;
}

}  // namespace crisp::apps
