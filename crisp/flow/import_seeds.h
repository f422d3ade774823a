#pragma once

#include "crisp/flow/seeds.h"

namespace crisp::flow {

struct ImportOptions {
  Path data, out;
  Path masks;  // PNG masks of any program; or
  Path cams;   // activation maps, .npy dicts or our own .safetensors
  std::string split = "train", tags_from = "auto";
  int cam_first = 1;        // what class 0 of the maps is called here
  bool only_tags = true;    // labels that the photo is not tagged with are dropped, where it has tags
  double confidence = 0.7;  // of a mask's label, for refinement
  seed::SeedOptions seed;
  std::string crf = ops::kDefaultCrf;
  std::string command;
  uint64_t random_seed = 0;
};

// Seeds made elsewhere, into a seed folder like any other; refined where asked. Photos without a file are an Error
// when they are all, else listed as skipped.
data::SeedFacts import_seeds(const ImportOptions& options);

}  // namespace crisp::flow
