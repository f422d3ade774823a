#pragma once

#include "crisp/base/random.h"
#include "crisp/data/synth/canvas.h"
#include "crisp/data/synth/figures.h"

namespace crisp::data::synth {

// What lies behind the figures.
struct Backdrop {
  Home home = Home::kAnywhere;  // whose figures are at home here
  double ground = 1;            // y from which standing figures stand, as a share of the height
  bool from_above = false;      // looking down at a surface: figures lie on it, turned any way
};

// Fills the canvas with a room, a street, a meadow under the sky, water, or a surface seen from above.
Backdrop paint_backdrop(Canvas& canvas, Rng& rng);

}  // namespace crisp::data::synth
