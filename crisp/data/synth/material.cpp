#include "crisp/data/synth/material.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace crisp::data::synth {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double lattice(int64_t x, int64_t y, uint64_t seed) {
  const uint64_t key =
      static_cast<uint64_t>(x) * 0x9E3779B97F4A7C15ull ^ static_cast<uint64_t>(y) * 0xC2B2AE3D27D4EB4Full;
  return static_cast<double>(mix_bits(key ^ seed) >> 40) * 0x1.0p-24;
}

double smooth(double t) { return t * t * (3 - 2 * t); }

double fraction(double x) { return x - std::floor(x); }

// 0 below, 1 above, with a soft step.
double soft_step(double x, double width) { return smooth(std::clamp(x / width + 0.5, 0.0, 1.0)); }

// How much of the second colour shows at p, in pattern coordinates (one repeat a unit).
double blend_at(const Material& m, Vec p) {
  switch (m.pattern) {
    case Pattern::kStripes:
      return soft_step(std::sin(kTurn * p.x), 0.5);
    case Pattern::kChecks:
      return soft_step(std::sin(kTurn * p.x) * std::sin(kTurn * p.y), 0.4);
    case Pattern::kDots: {
      const Vec cell = {fraction(p.x) - 0.5, fraction(p.y) - 0.5};
      return soft_step(0.3 - length(cell), 0.15);
    }
    case Pattern::kWood: {
      const double rings = p.y * 2 + 1.6 * fractal_noise({p.x * 0.35, p.y * 1.2}, m.seed, 3);
      return 0.75 * fraction(rings) + 0.25 * noise({p.x * 2, p.y * 18}, m.seed + 1);
    }
    case Pattern::kWeave: {
      const double over = std::sin(kTurn * p.x) * std::sin(kTurn * p.y);
      return 0.5 + 0.3 * over + 0.2 * (noise(3.0 * p, m.seed) - 0.5);
    }
    case Pattern::kScales: {  // rows of half discs, every other row shifted
      const double row = std::floor(p.y * 1.6);
      const Vec cell = {fraction(p.x + 0.5 * std::fmod(std::abs(row), 2.0)) - 0.5, fraction(p.y * 1.6)};
      return smooth(std::clamp(1.1 - length({cell.x * 1.6, cell.y}), 0.0, 1.0));
    }
    case Pattern::kBrushed:
      return 0.5 * noise({p.x * 0.4, p.y * 9}, m.seed) + 0.5 * (0.5 + 0.5 * std::sin(kTurn * 0.35 * p.y));
    case Pattern::kSpeckle:
      return soft_step(noise(2.5 * p, m.seed) - 0.62, 0.3);
    case Pattern::kBricks: {
      const double row = std::floor(p.y * 2);
      const double x = fraction(p.x + 0.5 * std::fmod(std::abs(row), 2.0)), y = fraction(p.y * 2);
      const double joint = std::min({x, 1 - x, 0.5 * y, 0.5 * (1 - y)});
      const auto column = static_cast<int64_t>(std::floor(p.x + 0.5 * std::fmod(std::abs(row), 2.0)));
      return soft_step(0.05 - joint, 0.05) + 0.25 * lattice(column, static_cast<int64_t>(row), m.seed);
    }
    case Pattern::kVeins: {
      const double side = std::abs(fraction(p.x * 0.5) - 0.5);
      return 0.6 * soft_step(0.12 - std::abs(fraction(p.y + 2 * side) - 0.5), 0.2);
    }
    case Pattern::kMarble:
      return 0.5 + 0.5 * std::sin(kTurn * (p.x * 0.5 + 1.5 * fractal_noise(p, m.seed, 4)));
    default:
      return 0;
  }
}

Colour strong_colour(Rng& rng) { return hsv(rng.uniform(0, 360), rng.uniform(0.45, 0.95), rng.uniform(0.4, 0.98)); }

Colour grey(double value) { return hsv(0, 0, value); }

}  // namespace

Colour hsv(double hue_degrees, double saturation, double value) {
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue_degrees / 60.0 + 6.0, 6.0);
    return static_cast<float>(value - value * saturation * std::max(0.0, std::min({k, 4 - k, 1.0})));
  };
  return {channel(5), channel(3), channel(1)};
}

double noise(Vec p, uint64_t seed) {
  const double fx = std::floor(p.x), fy = std::floor(p.y);
  const auto x = static_cast<int64_t>(fx), y = static_cast<int64_t>(fy);
  const double u = smooth(p.x - fx), v = smooth(p.y - fy);
  const double top = lattice(x, y, seed) * (1 - u) + lattice(x + 1, y, seed) * u;
  const double low = lattice(x, y + 1, seed) * (1 - u) + lattice(x + 1, y + 1, seed) * u;
  return top * (1 - v) + low * v;
}

double fractal_noise(Vec p, uint64_t seed, int octaves) {
  double sum = 0, weight = 0.5, total = 0;
  for (int i = 0; i < octaves; ++i) {
    sum += weight * noise(p, seed + static_cast<uint64_t>(i) * 977);
    total += weight;
    p = 2.03 * p;
    weight *= 0.5;
  }
  return sum / total;
}

Material tinted(Material material, float by) {
  material.first = by * material.first;
  material.second = by * material.second;
  return material;
}

Colour colour_at(const Material& m, Vec p) {
  const double c = std::cos(m.angle), s = std::sin(m.angle);
  const Vec q = m.frequency * Vec{c * p.x + s * p.y, c * p.y - s * p.x};
  const Colour base = m.pattern == Pattern::kPlain ? m.first : mix(m.first, m.second, blend_at(m, q));
  if (m.unevenness <= 0) return base;
  const double uneven = fractal_noise(6.0 * p, m.seed + 11, 3) - 0.5;
  return static_cast<float>(1 + 2 * m.unevenness * uneven) * base;
}

Material wood(Rng& rng) {
  const double hue = rng.uniform(15, 38), value = rng.uniform(0.35, 0.85), saturation = rng.uniform(0.35, 0.7);
  return {Pattern::kWood,      hsv(hue, saturation, value), hsv(hue - 5, saturation + 0.1, value * 0.68),
          rng.uniform(2.5, 5), rng.chance(0.5) ? 0.0 : 1.5, 0.12,
          rng.bits()};
}

Material metal(Rng& rng) {
  const double hue = rng.chance(0.3) ? rng.uniform(35, 48) : 215;
  const double saturation = hue < 60 ? 0.5 : 0.06, value = rng.uniform(0.5, 0.85);
  return {Pattern::kBrushed, hsv(hue, saturation, value), hsv(hue, saturation * 0.7, std::min(1.0, value + 0.22)),
          rng.uniform(3, 6), rng.uniform(0, 3),           0.06,
          rng.bits()};
}

Material paint(Rng& rng) {
  const Colour colour = rng.chance(0.2) ? grey(rng.uniform(0.1, 0.95)) : strong_colour(rng);
  const bool worn = rng.chance(0.4);
  return {
      worn ? Pattern::kSpeckle : Pattern::kPlain, colour, 0.75f * colour, 5, 0, rng.uniform(0.05, 0.15), rng.bits()};
}

Material fabric(Rng& rng) {
  constexpr std::array kPatterns = {Pattern::kWeave, Pattern::kStripes, Pattern::kChecks, Pattern::kDots};
  const Colour first = strong_colour(rng);
  const Colour second = rng.chance(0.5) ? mix(first, grey(0.95), 0.75) : strong_colour(rng);
  return {kPatterns[static_cast<size_t>(rng.below(4))],
          first,
          second,
          rng.uniform(3, 9),
          rng.uniform(-0.8, 0.8),
          0.1,
          rng.bits()};
}

Material foliage(Rng& rng) {
  const double hue = rng.chance(0.8) ? rng.uniform(70, 150) : rng.uniform(-30, 50);
  const double value = rng.uniform(0.3, 0.75), saturation = rng.uniform(0.35, 0.8);
  return {Pattern::kVeins,    hsv(hue, saturation, value), hsv(hue + 12, saturation * 0.7, std::min(1.0, value * 1.4)),
          rng.uniform(8, 14), rng.uniform(-0.5, 0.5),      0.2,
          rng.bits()};
}

Material ceramic(Rng& rng) {
  constexpr std::array kPatterns = {Pattern::kPlain, Pattern::kStripes, Pattern::kDots, Pattern::kSpeckle};
  const Colour glaze = rng.chance(0.4) ? hsv(rng.uniform(20, 60), 0.12, 0.93) : strong_colour(rng);
  return {kPatterns[static_cast<size_t>(rng.below(4))],
          glaze,
          rng.chance(0.5) ? strong_colour(rng) : 0.5f * glaze,
          rng.uniform(1.5, 4),
          rng.chance(0.7) ? std::numbers::pi / 2 : 0.0,
          0.06,
          rng.bits()};
}

Material any_material(Rng& rng) {
  switch (rng.below(7)) {
    case 0:
      return wood(rng);
    case 1:
      return metal(rng);
    case 2:
      return fabric(rng);
    case 3:
      return foliage(rng);
    case 4:
      return ceramic(rng);
    case 5: {
      const Colour stone = hsv(rng.uniform(20, 60), rng.uniform(0, 0.25), rng.uniform(0.4, 0.8));
      return {Pattern::kMarble, stone, 0.8f * stone, rng.uniform(2, 5), 0, 0.15, rng.bits()};
    }
    default:
      return paint(rng);
  }
}

}  // namespace crisp::data::synth
