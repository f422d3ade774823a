#pragma once

#include <vector>

#include "crisp/base/random.h"
#include "crisp/data/synth/canvas.h"

namespace crisp::data::synth {

// Where a thing is usually met. Scenes prefer it, as photos do, and do not insist on it.
enum class Home { kRoom, kSky, kWater, kAnywhere };

// A kind of thing to be found: how to build one (shape, proportions and materials drawn anew) and how it
// behaves in a scene. A standing figure touches the ground at y = 1.
struct FigureClass {
  const char* name;
  std::vector<Part> (*build)(Rng& rng);
  Home home;
  bool stands;
  double turn;  // most radians it leans either way
};

// The classes 1, 2, ... of synthetic scenes.
const std::vector<FigureClass>& figure_classes();

// Things that are no class: stones, boxes, books, sticks, balls, pictures, bunting; of these the last three
// where they have to hang or fly.
std::vector<Part> clutter(Rng& rng, bool in_the_air);

// The builders, by class.
std::vector<Part> build_wheel(Rng& rng);
std::vector<Part> build_chair(Rng& rng);
std::vector<Part> build_lamp(Rng& rng);
std::vector<Part> build_kite(Rng& rng);
std::vector<Part> build_plant(Rng& rng);
std::vector<Part> build_fish(Rng& rng);
std::vector<Part> build_mug(Rng& rng);
std::vector<Part> build_umbrella(Rng& rng);

}  // namespace crisp::data::synth
