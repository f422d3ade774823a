#pragma once

#include <string>
#include <utility>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/report/contact_sheet.h"
#include "crisp/report/pipeline_scores.h"
#include "crisp/report/plots.h"

namespace crisp::report {

// Lines that belong together: losses, validation, the labels over the rounds of relabelling.
struct PipelineCurves {
  std::string title, x_label, y_label;
  std::vector<Series> series;  // of any length; long ones are drawn as means of neighbours
};

struct StageTime {
  std::string name;
  double seconds = 0;   // as it took when it ran
  bool reused = false;  // its output was there already; not counted in the total
};

// All that the page of a whole run shows, from tags to masks. What is empty has no section: photos without masks make
// a page of pictures, curves, times and how to use the model.
struct PipelinePage {
  std::string title, lead;
  std::vector<std::pair<std::string, std::string>> facts;    // "photos", "1,464"; "device", "2 CPU threads"
  std::string predict_command;                               // how to use the model
  std::vector<std::pair<std::string, std::string>> outputs;  // "model", "out/model.safetensors"
  std::vector<PipelineScores> scores;                        // in the order of the pipeline, the result last
  std::vector<std::string> notes;                            // which numbers looked at masks, what was left out
  ClassNames classes;
  std::string path_title = "From tags to masks",
              path_lead = "Each photo on its way. All that training knew of it were its tags.";
  std::vector<SheetRow> path;           // photo, CAM, seed, relabelled, student, uncertainty, boundary, truth
  std::vector<PipelineCurves> curves;   // those without a finite point are left out
  std::vector<SheetRow> scale_weights;  // four maps a row: 1/4, 1/8, 1/16, 1/32
  std::vector<StageTime> times;
  std::string config;  // TOML
  std::string command, version, commit;
};

// A page that needs nothing but itself.
std::string pipeline_page(const PipelinePage& contents);

// At most `most` points: neighbours become their mean, what is not finite is left out first.
Series thinned(const Series& series, size_t most);

// 0.83 -> "0.8 s", 75 -> "1 min 15 s", 7384 -> "2 h 03 min".
std::string duration_text(double seconds);

}  // namespace crisp::report
