#pragma once

#include <functional>
#include <optional>

#include "crisp/data/dataset.h"
#include "crisp/data/seed_folder.h"
#include "crisp/seed/cam.h"
#include "crisp/seed/refine.h"

namespace crisp::seed {

// Which photos of a split get seeds. One without tags is left out and counted, or, when asked, is all background.
enum class Untagged { kSkip, kBackground };
Untagged parse_untagged(const std::string& name);

struct SeedOptions {
  Background background;
  RefineOptions refine;
  Untagged untagged = Untagged::kSkip;
  int max_side = 1024;     // a larger photo is worked on at this size, its labels brought back
  bool keep_cams = false;  // cams/ID.safetensors, one fp16 map a class
  // Labels for learning affinities: objects as found under the one background, background as under the other, 255
  // elsewhere.
  bool confident = false;
  Background sure_object{.power = false, .value = 0.55}, sure_background{.power = false, .value = 0.35};
  int64_t batch = 4;
  int workers = 2;
  std::function<bool()> stop;  // asked now and then; empty: never
};

void check(const SeedOptions& options);

// Tagged photos (and untagged ones as asked), ordered by size so that they fill batches; with the number left out.
// Without a background a photo that shows no class is untagged too.
struct SeedPhotos {
  std::vector<data::Sample> samples;
  int64_t untagged = 0;
};
SeedPhotos photos_for_seeds(const std::vector<data::Sample>& samples, Untagged untagged, bool background = true);

// A very large photo costs gigabytes in the network and the CRF, and its seed is no better for it: the photo with no
// side above `max_side`.
image::Image working_size(image::Image photo, int max_side);

// The label and uncertainty of one photo from its maps.
data::Seed make_seed(const image::Image& photo, const Cams& cams, const AffinityFeatures& features,
                     const SeedOptions& options);

// Fills a seed folder: decoding, network, refinement and writing overlap. What is there already is left alone.
// Returns the folder's head, or nothing when `stop` ended it early. `affinity` may be null where the chain has none.
std::optional<data::SeedFacts> make_seeds(CamMaker& cams, AffinityMaker* affinity, const SeedPhotos& photos,
                                          const SeedOptions& options, data::SeedFacts facts, const Path& out);

}  // namespace crisp::seed
