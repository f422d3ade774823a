#pragma once

#include <cstdint>

#include "crisp/base/random.h"
#include "crisp/data/synth/shapes.h"

namespace crisp::data::synth {

struct Colour {
  float r = 0, g = 0, b = 0;  // 0 to 1, as the image stores them
};
inline Colour operator*(float s, Colour c) { return {s * c.r, s * c.g, s * c.b}; }
inline Colour operator+(Colour a, Colour b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
inline Colour mix(Colour a, Colour b, double t) { return static_cast<float>(1 - t) * a + static_cast<float>(t) * b; }

Colour hsv(double hue_degrees, double saturation, double value);

// Smooth noise in 0..1 with features of size 1, and its sum over octaves. Fixed by position and seed.
double noise(Vec p, uint64_t seed);
double fractal_noise(Vec p, uint64_t seed, int octaves);

enum class Pattern {
  kPlain,
  kStripes,
  kChecks,
  kDots,
  kWood,
  kWeave,
  kScales,
  kBrushed,
  kSpeckle,
  kBricks,
  kVeins,
  kMarble,
};

// What a surface looks like: two colours in a pattern, with a little unevenness over it.
struct Material {
  Pattern pattern = Pattern::kPlain;
  Colour first, second;
  double frequency = 8;  // repeats a unit of length
  double angle = 0;
  double unevenness = 0.1;
  uint64_t seed = 0;
};

// The same surface, brighter or darker.
Material tinted(Material material, float by);

Colour colour_at(const Material& material, Vec p);

// Materials by what they are made of; each draws its colours and pattern anew.
Material wood(Rng& rng);
Material metal(Rng& rng);
Material paint(Rng& rng);    // one strong colour, sometimes worn
Material fabric(Rng& rng);   // weave, stripes, checks or dots
Material foliage(Rng& rng);  // mostly green, sometimes red or yellow
Material ceramic(Rng& rng);
Material any_material(Rng& rng);

}  // namespace crisp::data::synth
