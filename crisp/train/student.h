#pragma once

#include <string>
#include <vector>

#include "crisp/loss/total.h"
#include "crisp/model/config.h"
#include "crisp/seed/refine.h"

namespace crisp::train {

// Which of the uncertainties a student knows enter the teacher's, in relabelling.
struct TeacherSources {
  bool aleatoric = true, entropy = true, epistemic = true;  // none: 1 - max P
};

// When each part of the method sets in, as fractions of training.
struct Phases {
  double refiner_attached = 0.075;                                // gradients through the refiner's inputs
  double weighting = 0.1;                                         // by uncertainty
  double modulation = 0.15;                                       // U-DMF
  double drop_first = 0.30, drop_last = 0.15, drop_until = 0.25;  // share of uncertain seed pixels left out
};

// Stage C.
struct RelabelOptions {
  bool on = true;
  double from = 0.25, every = 0.075;
  int64_t passes = 8;             // MC-dropout
  std::vector<double> scales{1};  // times the network's zoom; scales and flips share the passes
  bool flip = false;
  double keep_first = 0.70, keep_last = 0.85;  // share of the labels kept, from `from` to the end
  int64_t keep_at_least = 50;                  // pixels of each class
  double found_at_least = 0.8;                 // of photo-tag pairs, else relabelling waits
  // A photo in which the teacher misses one of its tags keeps the labels it had: an object that is not found would
  // become background, and the next teacher could never find it.
  bool all = false;
  double trust = 0;  // in the labels so far, against the teacher: 0 as in the paper, 1 as much as in the teacher
  // A round is withdrawn where, half way to the next, the teacher it led to is worse by what needs no mask
  // (round_check.h).
  bool checked = false;
  bool image_wide = false;
  double threshold = 0;  // above 0: a fixed tau_u instead of shares
  TeacherSources sources;
  seed::RefineOptions
      refine;  // of the teacher's probabilities; an empty chain, as in the paper, takes them as they are
};

// All that a row of the paper's tables decides.
struct StudentConfig {
  model::HeadConfig head;
  loss::Options loss;
  bool relabel = true;
  TeacherSources sources;
};

// `ablation` A0 .. A6 and `uncertainty` U0 .. U4 (U4 is the method's own).
StudentConfig student_row(const std::string& ablation, const std::string& uncertainty, int64_t width, int64_t classes);

void check(const Phases& phases);
void check(const RelabelOptions& options);

// The share of uncertain seed pixels to leave out, and of relabelled ones, at a fraction of training.
double drop_share(const Phases& phases, double fraction);
double drop_share(const RelabelOptions& options, double fraction);

}  // namespace crisp::train
