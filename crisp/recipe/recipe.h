#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisp/recipe/words.h"

// Everything that decides what comes out of photos and tags, as one value. The defaults here are the paper's, on
// MiT-B5, as docs/method.md settles it; a recipe file says what it changes of them. What each field is, its unit and
// its range stand in fields.h. Where data lie, on what and by how many threads they are worked on is no part of it.
namespace crisp::recipe {

struct Encoder {
  std::string arch = "mit_b5";
  std::string weights;  // a file; empty: those shipped; none: drawn at random
  int64_t cells_per_token = 2;
};

struct Augment {
  int64_t crop = 0;
  double scale_low = 0.5, scale_high = 2;
  double flip = 0.5;
  double jitter = 0.8, brightness = 0.3, contrast = 0.3, saturation = 0.3, hue = 0.05;
  double blur = 0.1, grey = 0.05;
};

struct Optimiser {
  int64_t batch = 16, accumulate = 1;
  double encoder_rate = 6e-6, head_rate = 6e-5, weight_decay = 1e-4;
  double clip = 5;
  Precision precision = Precision::kAuto;
};

struct Schedule {
  int64_t epochs = 40;
  int64_t photos = 0;
  double warmup_epochs = 1;
  Decay decay = Decay::kCosine;
  double power = 1;
  int64_t validate_every = 5, checkpoint_every = 1;
};

struct Classify {
  Pooling pooling = Pooling::kAverage;
  double top_share = 0.2;
  int64_t stride = 16;
  double drop_path = 0.1;
  double mosaic = 0;
  bool freeze_norms = false;
  Optimiser optimiser;
  Schedule schedule;
  Augment augment;
};

struct Affinity {
  int64_t epochs = 3, batch = 8;
  double rate = 1e-3;
  AffinityTrain train = AffinityTrain::kHead;
  std::string sure_object = "power:4", sure_background = "power:24";
  int64_t walk_steps = 256;
  WalkOn walk_on = WalkOn::kMaps;
};

struct Seeds {
  std::vector<double> scales;
  bool flip = true;
  int64_t multiple = 32, max_side = 1024;
  double spread_power = 0;
  int64_t spread_rounds = 2;
  int64_t crossfit = 0;
  std::string background = "0.45";
  Untagged untagged = Untagged::kSkip;
  std::vector<Refinement> refine;
  CrfPreset crf = CrfPreset::kBeco;
  int64_t crf_iterations = 10;
  double crf_scale = 1;
  Affinity affinity;
};

struct Model {
  Row row = Row::kA6;
  Sources sources = Sources::kU4;
  Start start = Start::kShipped;
  int64_t width = 0, hidden = 64;
  double dropout = 0.1, drop_path = 0.1, temperature = 1;
  double input_scale = 1;
  Fusion fusion = Fusion::kDmf;
  Modulation modulation = Modulation::kPerScale;
  bool modulation_minmax = false;
  bool boundary_on_e1 = false;
  int64_t propagation_steps = 0;
};

struct Loss {
  double cross_entropy = 1, dice = 1, heteroscedastic = 0.5, boundary = 0.5, surface = 0;
  double edge_weight = 0, edge_reach = 12;
  double weighting_strength = 2;
  Range weighting_range = Range::kPercentiles;
  bool label_variance = false, discount_boundary = false;
  int64_t boundary_band = 2;
  int64_t label_side = 128;
};

struct Phases {
  double refiner_attached = 0.075, weighting_from = 0.1, modulation_from = 0.15;
  double drop_first = 0.3, drop_last = 0.15, drop_until = 0.25;
};

struct Relabel {
  bool on = true;
  double from = 0.25, every = 0.075;
  int64_t passes = 8;
  std::vector<double> scales{1};
  bool flip = false;
  double keep_first = 0.7, keep_last = 0.85;
  int64_t keep_pixels = 50;
  bool image_wide = false;
  double max_uncertainty = 0;
  double min_tag_recall = 0.8;
  bool all_photos = false;
  double previous_label_weight = 0;
  bool checked = false;
  std::vector<Refinement> refine;
};

struct Student {
  Model model;
  Loss loss;
  Phases phases;
  Relabel relabel;
  Optimiser optimiser;
  Schedule schedule;
  Augment augment;
  double ema_decay = 0.999;
};

struct Recipe {
  std::string name = "paper";
  std::string about;
  Encoder encoder;
  Classify classify;
  Seeds seeds;
  Student student;
};

}  // namespace crisp::recipe
