#pragma once

#include <string>
#include <vector>

#include "crisp/loss/uncertainty_weight.h"

namespace crisp::loss {

// The training objective of the segmentation network: weights of its parts (0 switches a part off) and how each is
// computed. Schedules are the trainer's: it changes these between steps.
struct Options {
  double cross_entropy = 1;
  double dice = 1;
  double heteroscedastic = 0.5;
  double boundary = 0.5;
  double surface = 0;  // the paper's optional term, there with 0.1

  double edges = 0;        // cross-entropy and Dice: pixels near a label's edge count 1 + edges times; not in the paper
  double edge_reach = 12;  // what is near, in pixels

  bool weighting = true;  // discount uncertain pixels: w = exp(-2 U), else w = 1
  WeightOptions weight;
  bool label_variance = false;      // heteroscedastic: sigma^2 of the labelled class, not the mean over classes
  bool discount_boundary = false;   // w in the boundary loss too
  bool surface_everywhere = false;  // surface: on pixels at and next to label 255 too, as the formula has it
};

// Throws UsageError when an option makes no sense.
void check(const Options& options);

// What the network says, at 1/4 of the labels' size or any other, in any floating type. All but `refined` may be
// undefined: parts that need a missing one are off, as if their weight were 0.
struct Outputs {
  torch::Tensor logits;    // Z, for the heteroscedastic part    [N, K, h, w]
  torch::Tensor refined;   // Z*; the same tensor as Z is fine   [N, K, h, w]
  torch::Tensor variance;  // sigma^2                            [N, K, h, w]
  torch::Tensor boundary;  // edge logits                        [N, 1, h, w]
};

// What it should have said, on the same device. `band` and `distance` may be undefined where their part is off.
struct Targets {
  torch::Tensor labels;    // uint8; 255, and all that is no class, is ignored                  [N, H, W]
  torch::Tensor band;      // uint8; boundary_band() of the labels before uncertain ones went   [N, H, W]
  torch::Tensor distance;  // f32; edge_distance() of the same                                  [N, H, W]
};

struct Part {
  std::string name;     // cross_entropy, dice, heteroscedastic, boundary, surface
  torch::Tensor value;  // 0-dim f32 without gradient, before its weight
};

struct Total {
  torch::Tensor sum;        // 0-dim f32: what to call backward() on
  std::vector<Part> parts;  // those that are on
};

// sum = over parts of weight * part, everything upsampled to the labels' size and computed in f32. A batch without
// a valid pixel gives 0 and zero gradients. Nothing here waits for the device. Throws Error when shapes disagree or
// a target of a part that is on is missing.
Total total(const Outputs& outputs, const Targets& targets, const Options& options = {});

}  // namespace crisp::loss
