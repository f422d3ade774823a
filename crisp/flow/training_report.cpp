#include "crisp/flow/training_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/base/version.h"
#include "crisp/flow/run_folder.h"
#include "crisp/image/decode.h"
#include "crisp/report/run_log.h"

namespace crisp::flow {
namespace {

constexpr size_t kMoments = 6;  // pictures of a photo, first and last among them

report::Series series(const std::vector<report::LogRecord>& log, const std::string& field, const std::string& name) {
  report::Series line{name, {}};
  for (const report::LogRecord& record : log) {
    if (const auto value = record.number(field)) line.points.emplace_back(static_cast<double>(record.step), *value);
  }
  return line;
}

std::vector<Path> sorted_entries(const Path& folder) {
  std::vector<Path> all;
  if (!std::filesystem::is_directory(folder)) return all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

// samples/ID/step-0000128.png
std::vector<report::SheetRow> sample_rows(const Path& run) {
  std::vector<report::SheetRow> rows;
  for (const Path& folder : sorted_entries(run / "samples")) {
    report::SheetRow row{.name = folder.filename().string(), .tags = {}, .note = "", .pictures = {}};
    const std::vector<Path> files = sorted_entries(folder);
    const size_t count = std::min(files.size(), kMoments);
    for (size_t i = 0; i < count; ++i) {
      const Path& file = files[count == 1 ? 0 : i * (files.size() - 1) / (count - 1)];
      const auto step = parse_number(file.stem().string().substr(std::string("step-").size()));
      try {
        row.pictures.push_back(
            report::sheet_photo(fmt::format("step {:.0f}", step.value_or(0)), image::read_image(file)));
      } catch (const Error& problem) {  // a page without a picture is better than no page
        log_warning("report: {}", problem.what());
      }
    }
    if (!row.pictures.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<report::PipelineCurves> classifier_curves(const Path& run) {
  const std::vector<report::LogRecord> log = report::read_run_log(run / "log.jsonl");
  return {{"Tag classifier: loss", "step", "loss", {series(log, "loss", "loss")}},
          {"Tag classifier: held-out photos", "step", "mAP, %", {series(log, "val_map", "mAP")}}};
}

std::vector<report::PipelineCurves> student_curves(const Path& run) {
  const std::vector<report::LogRecord> log = report::read_run_log(run / "log.jsonl");
  return {{"Student: loss",
           "step",
           "loss",
           {series(log, "loss", "total"), series(log, "cross_entropy", "cross-entropy"), series(log, "dice", "Dice"),
            series(log, "heteroscedastic", "heteroscedastic"), series(log, "boundary", "boundary")}},
          {"Student: held-out photos",
           "step",
           "mIoU, %",
           {series(log, "val_miou", "teacher"), series(log, "val_miou_on_seeds", "against seeds")}},
          {"Labels over the rounds of relabelling", "step", "mIoU, %", {series(log, "relabel_miou", "labels")}}};
}

void write_training_report(const Path& run) {
  const RunFacts facts = read_run(run);
  const bool student = facts.task == "segment";
  report::PipelinePage page;
  page.title = run.lexically_normal().filename().string();
  page.lead = student ? "A student that learned to cut out objects." : "A classifier that learned tags.";
  page.facts = {{"data", facts.data}, {"split", facts.split}, {"time", report::duration_text(facts.seconds)}};
  if (student) {
    page.facts.insert(page.facts.end(), {{"labels", facts.labels}, {"model kept", facts.selected_by}});
    page.predict_command = fmt::format("crispformer predict photo.jpg --model {} --out cut", run.string());
  } else if (facts.task == "classify") {
    page.predict_command = fmt::format("crispformer seeds --data {} --split {} --classifier {} --out seeds", facts.data,
                                       facts.split, run.string());
  }
  page.outputs = {{"model", (run / "model.safetensors").string()}, {"log", (run / "log.jsonl").string()}};
  page.classes = facts.classes;
  page.path_title = "As it learned to see";
  page.path_lead = "The same held-out photos after each look at them.";
  page.path = sample_rows(run);
  page.curves = student ? student_curves(run) : classifier_curves(run);
  const Path config = run / "config.toml";  // a stage of `run` has none: the options are the pipeline's
  if (std::filesystem::exists(config)) page.config = read_text(config);
  page.command = facts.command;
  page.version = version();
  page.commit = commit();
  write_atomic(run / "report.html", report::pipeline_page(page));
}

}  // namespace crisp::flow
