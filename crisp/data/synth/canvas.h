#pragma once

#include <cstdint>
#include <vector>

#include "crisp/data/synth/material.h"
#include "crisp/data/synth/shapes.h"

namespace crisp::data::synth {

// One surface of a figure. Its edge is shaded as if it were round over `bevel` (0: flat); `glow` makes it
// shine by itself (a lamp's shade).
struct Part {
  Shape shape;
  Material material;
  double bevel = 0.05;
  double glow = 0;
};

// Something to paint: parts in painting order, in its own units: about [-1, 1], y down. Label 0 is clutter.
struct Figure {
  int label = 0;
  std::vector<Part> parts;
};

// Where a figure stands: similarities only, so that distances stay distances.
struct Placement {
  Vec centre;        // pixels
  double scale = 1;  // pixels a unit
  double angle = 0;
  bool mirrored = false;
};

struct Light {
  Vec from = {-0.6, -0.8};  // towards the light
  double strength = 0.35;   // contrast of shaded edges
  double shadow = 0.4;      // darkness of cast shadows
  double distance = 0.05;   // of the shadow, in figure units
};

// Pixels while they are painted, with the label of the topmost figure whose outline holds a pixel's centre.
struct Canvas {
  int width = 0, height = 0;
  std::vector<Colour> pixels;
  std::vector<uint8_t> labels;

  Canvas(int w, int h)
      : width(w), height(h), pixels(static_cast<size_t>(w) * static_cast<size_t>(h)), labels(pixels.size()) {}
  size_t at(int x, int y) const { return static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x); }
};

// A soft shadow of the figure's parts, behind and beside it.
void cast_shadow(Canvas& canvas, const Figure& figure, const Placement& placement, const Light& light);

// Lays the figure over what is there, edges anti-aliased. No part is drawn thinner than 1.3 pixels.
void paint_figure(Canvas& canvas, const Figure& figure, const Placement& placement, const Light& light);

}  // namespace crisp::data::synth
