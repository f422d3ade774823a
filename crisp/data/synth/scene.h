#pragma once

#include <cstdint>

#include "crisp/base/random.h"
#include "crisp/image/image.h"

namespace crisp::data::synth {

struct Scene {
  image::Image photo;
  image::Mask truth;  // 0 for backdrop and clutter
};

// One picture with one to four figures of the first `classes - 1` kinds, among and behind clutter, under a
// light of its own. Every class in the truth has at least `kFewestPixels` pixels of it.
constexpr int kFewestPixels = 24;
Scene render_scene(int width, int height, int classes, Rng rng, double zoom = 1);

}  // namespace crisp::data::synth
