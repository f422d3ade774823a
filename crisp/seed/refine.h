#pragma once

#include <string>
#include <vector>

#include "crisp/ops/crf.h"
#include "crisp/ops/par.h"
#include "crisp/seed/posterior.h"

namespace crisp::seed {

enum class Refinement { kCrf, kPar, kAffinity };

// "affinity,crf" in the order they are applied; "none" is empty. An unknown word is a UsageError.
std::vector<Refinement> parse_refinements(const std::vector<std::string>& words);
std::string to_string(const std::vector<Refinement>& chain);

struct RefineOptions {
  std::vector<Refinement> chain;
  ops::CrfOptions crf = ops::crf_preset(ops::kDefaultCrf);
  ops::ParOptions par;
  ops::ParFunction par_by = ops::par;  // ops::par_on gives a GPU's
  int walk_steps = 64;                 // AffinityNet takes 256; see docs/method.md
  float walk_beta = 8;
  // A chain that begins with affinity walks the maps, before the background has its say (as IRN does; Ahn et al.,
  // 2019): a walk levels whatever is inside an object's edges, and a constant background never loses by that.
  bool walk_maps = true;

  bool has(Refinement step) const { return std::find(chain.begin(), chain.end(), step) != chain.end(); }
};

// Features of the affinity network at stride 8.
struct AffinityFeatures {
  int channels = 0, width = 0, height = 0;
  std::vector<float> values;  // [channels, height, width]
};

// The posterior of maps, refined: the whole chain.
Posterior refined(const image::Image& photo, Cams cams, const AffinityFeatures& features, const Background& background,
                  const RefineOptions& options);

// Applies the chain to the posterior of one photo. `features` may be empty where the chain has no affinity. Photo
// and posterior have one size. One thread; photos run in parallel.
void refine(const image::Image& photo, const AffinityFeatures& features, const RefineOptions& options,
            Posterior& posterior);

}  // namespace crisp::seed
