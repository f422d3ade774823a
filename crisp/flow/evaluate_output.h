#pragma once

#include <string>

#include "crisp/flow/evaluate.h"
#include "crisp/metric/compare.h"

namespace crisp::flow {

// Where an output came from, for its readers.
struct Provenance {
  std::string title;    // "seeds/ against SegmentationClass/"
  std::string command;  // as typed
  std::string config;   // every option in force, TOML
};

// Finished numbers of an evaluation.
struct FinishedEvaluation {
  metric::Metrics metrics;                  // its protocol has the evaluation's notes too
  std::optional<metric::Metrics> left_out;  // of seeds
  std::string json;                         // the text of metrics.json
};

FinishedEvaluation finish(const Evaluation& evaluation, int threads);

// OUT/metrics.json, per_class.csv, per_image.csv, confusion.csv, scores.json (for compare), report.html and
// config.toml.
void write_evaluation(const Evaluation& evaluation, const FinishedEvaluation& finished, const Path& out,
                      const Provenance& from);

// What compare needs of an output folder.
struct StoredEvaluation {
  ClassNames classes;
  metric::Accumulator scores;
};

// Reads OUT/scores.json and the class names in OUT/metrics.json. Errors name the file and say what the folder
// must be.
StoredEvaluation read_evaluation(const Path& out);

// Two stored evaluations of the same images and classes. Error when the class names differ or an image is in
// one of them alone, naming them.
metric::Comparison compare_stored(const StoredEvaluation& a, const StoredEvaluation& b, int threads);

// OUT/comparison.json, report.html and config.toml.
void write_comparison(const metric::Comparison& comparison, const ClassNames& classes, const Path& out, const Path& a,
                      const Path& b, const Provenance& from);

}  // namespace crisp::flow
