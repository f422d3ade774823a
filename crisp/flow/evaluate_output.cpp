#include "crisp/flow/evaluate_output.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/version.h"
#include "crisp/metric/json.h"
#include "crisp/metric/tables.h"
#include "crisp/report/eval_page.h"

namespace crisp::flow {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::string key_of(const std::string& line) { return line.substr(0, line.find_first_of(":(")); }

// A note takes the place of the general line about the same thing.
std::vector<std::string> with_notes(std::vector<std::string> protocol, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    const auto same = std::find_if(protocol.begin(), protocol.end(),
                                   [&](const std::string& line) { return key_of(line) == key_of(note); });
    if (same == protocol.end()) {
      protocol.push_back(note);
    } else {
      *same = note;
    }
  }
  return protocol;
}

// The numbers of seeds without their ignored pixels, as a part of metrics.json.
Json left_out_json(const metric::Metrics& metrics, const Evaluation& evaluation) {
  Json all = Json::parse(metric::to_json(metrics, evaluation.classes));
  Json part = Json::object();
  for (const char* key : {"miou", "mdice", "pixel_accuracy", "mean_accuracy", "ci95", "per_class"})
    part[key] = all[key];
  part["ignored_percent"] = 100.0 * static_cast<double>(evaluation.ignored_pixels) /
                            static_cast<double>(std::max<int64_t>(1, evaluation.pixels));
  return part;
}

}  // namespace

FinishedEvaluation finish(const Evaluation& evaluation, int threads) {
  FinishedEvaluation finished{evaluation.scores.finish(threads), {}, {}};
  finished.metrics.protocol = with_notes(std::move(finished.metrics.protocol), evaluation.notes);
  const auto skipped = static_cast<int64_t>(evaluation.skipped.size());
  Json json = Json::parse(metric::to_json(finished.metrics, evaluation.classes, skipped));
  if (!evaluation.skipped.empty()) {
    Json list = Json::array();
    for (const SkippedSample& s : evaluation.skipped) list.push_back({{"name", s.name}, {"reason", s.reason}});
    json["skipped_images"] = std::move(list);
  }
  if (evaluation.left_out) {
    finished.left_out = evaluation.left_out->finish(threads);
    json["ignored_left_out"] = left_out_json(*finished.left_out, evaluation);
  }
  json["version"] = version();
  json["commit"] = commit();
  finished.json = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return finished;
}

void write_evaluation(const Evaluation& evaluation, const FinishedEvaluation& finished, const Path& out,
                      const Provenance& from) {
  make_folder(out);
  const metric::Metrics& metrics = finished.metrics;
  write_atomic(out / "config.toml", from.config);
  write_atomic(out / "per_class.csv", metric::per_class_csv(metrics, evaluation.classes));
  write_atomic(out / "per_image.csv", metric::per_image_csv(evaluation.scores));
  write_atomic(out / "confusion.csv", metric::confusion_csv(metrics, evaluation.classes));
  write_atomic(out / "scores.json", metric::to_json(evaluation.scores) + "\n");
  write_atomic(out / "report.html", report::eval_page({.title = from.title,
                                                       .metrics = metrics,
                                                       .classes = evaluation.classes,
                                                       .left_out = finished.left_out ? &*finished.left_out : nullptr,
                                                       .examples = evaluation.examples,
                                                       .skipped = static_cast<int64_t>(evaluation.skipped.size()),
                                                       .command = from.command,
                                                       .version = version(),
                                                       .commit = commit()}));
  write_atomic(out / "metrics.json", finished.json);  // last: who finds it finds the others
}

StoredEvaluation read_evaluation(const Path& out) {
  const Path scores = out / "scores.json", metrics = out / "metrics.json";
  for (const Path& file : {scores, metrics}) {
    if (!fs::is_regular_file(file)) {
      throw Error("{}: not there; {} must be an output folder of `crispformer eval`", file.string(), out.string());
    }
  }
  StoredEvaluation stored{{}, metric::accumulator_from_json(read_text(scores), scores.string())};
  try {
    const Json json = Json::parse(read_text(metrics));
    for (const Json& row : json.at("per_class")) stored.classes.push_back(row.at("name").get<std::string>());
  } catch (const Json::exception& problem) {
    throw Error("{}: not the metrics of an evaluation: {}", metrics.string(), problem.what());
  }
  if (stored.classes.size() != static_cast<size_t>(stored.scores.options().classes)) {
    throw Error("{}: {} class names, but {} was made with {} classes", metrics.string(), stored.classes.size(),
                scores.string(), stored.scores.options().classes);
  }
  return stored;
}

metric::Comparison compare_stored(const StoredEvaluation& a, const StoredEvaluation& b, int threads) {
  if (a.classes.size() == b.classes.size()) {
    for (size_t k = 0; k < a.classes.size(); ++k) {
      if (a.classes[k] == b.classes[k]) continue;
      throw Error("the two evaluations have different classes: {} is '{}' in the first and '{}' in the second", k,
                  a.classes[k], b.classes[k]);
    }
  }
  return metric::compare(a.scores, b.scores, threads);
}

void write_comparison(const metric::Comparison& comparison, const ClassNames& classes, const Path& out, const Path& a,
                      const Path& b, const Provenance& from) {
  make_folder(out);
  write_atomic(out / "config.toml", from.config);
  write_atomic(out / "comparison.json", metric::to_json(comparison, classes));
  write_atomic(out / "report.html", report::compare_page({.title = from.title,
                                                          .name_a = a.string(),
                                                          .name_b = b.string(),
                                                          .comparison = comparison,
                                                          .classes = classes,
                                                          .command = from.command,
                                                          .version = version(),
                                                          .commit = commit()}));
}

}  // namespace crisp::flow
