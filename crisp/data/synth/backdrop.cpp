#include "crisp/data/synth/backdrop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace crisp::data::synth {
namespace {

// Calls paint(p) for each pixel, p in units of the longer side.
template <typename Paint>
void fill(Canvas& canvas, Paint paint) {
  const double unit = std::max(canvas.width, canvas.height);
  for (int y = 0; y < canvas.height; ++y) {
    for (int x = 0; x < canvas.width; ++x) {
      canvas.pixels[canvas.at(x, y)] = paint(Vec{(x + 0.5) / unit, (y + 0.5) / unit});
    }
  }
}

double share_of_height(const Canvas& canvas) {
  return static_cast<double>(canvas.height) / std::max(canvas.width, canvas.height);
}

// A floor seen at a slant: rows close up towards the horizon.
Vec on_floor(Vec p, double horizon) {
  const double depth = 0.25 / (p.y - horizon + 0.12);
  return {(p.x - 0.5) * depth * 2, depth * 3};
}

Material wall_paper(Rng& rng) {
  constexpr std::array kPatterns = {Pattern::kPlain,  Pattern::kStripes, Pattern::kDots,
                                    Pattern::kChecks, Pattern::kMarble,  Pattern::kWeave};
  const Colour base = hsv(rng.uniform(0, 360), rng.uniform(0.03, 0.4), rng.uniform(0.6, 0.97));
  const Colour figure = mix(base, hsv(rng.uniform(0, 360), rng.uniform(0.1, 0.5), rng.uniform(0.3, 1)), 0.3);
  return {kPatterns[static_cast<size_t>(rng.below(6))], base, figure,    rng.uniform(6, 16),
          rng.chance(0.6) ? 0.0 : std::numbers::pi / 4, 0.08, rng.bits()};
}

Material stones(Rng& rng) {
  const Colour brick = hsv(rng.uniform(5, 40), rng.uniform(0.15, 0.6), rng.uniform(0.35, 0.75));
  return {Pattern::kBricks, brick, mix(brick, hsv(40, 0.1, 0.8), 0.6), rng.uniform(4, 9), 0, 0.3, rng.bits()};
}

Material flooring(Rng& rng) {
  if (rng.chance(0.5)) return wood(rng);
  Material tiles = rng.chance(0.5) ? stones(rng) : wall_paper(rng);
  tiles.frequency = rng.uniform(2, 4);
  if (rng.chance(0.5)) tiles.pattern = Pattern::kChecks;
  return tiles;
}

Backdrop room(Canvas& canvas, Rng& rng, bool is_street) {
  const double height = share_of_height(canvas), horizon = height * rng.uniform(0.5, 0.72);
  const Material wall = is_street ? stones(rng) : wall_paper(rng),
                 floor = is_street ? any_material(rng) : flooring(rng);
  const Colour skirting = mix(wall.first, hsv(40, 0.1, rng.chance(0.5) ? 0.95 : 0.25), 0.7);
  const double strip = rng.uniform(0.01, 0.035);
  const Vec spot = {rng.uniform(0, 1), rng.uniform(0, horizon)};
  fill(canvas, [&](Vec p) {
    const double bright = 1.2 - 0.4 * length(p - spot);
    if (p.y < horizon - strip) return static_cast<float>(bright) * colour_at(wall, p);
    if (p.y < horizon) return static_cast<float>(bright * (0.8 + 0.2 * (horizon - p.y) / strip)) * skirting;
    const double near = std::min(1.1, 0.8 + (p.y - horizon) * 1.2);
    return static_cast<float>(near) * colour_at(floor, on_floor(p, horizon));
  });
  return {Home::kRoom, (horizon + 0.04) / height, false};
}

Backdrop meadow(Canvas& canvas, Rng& rng) {
  const double height = share_of_height(canvas), horizon = height * rng.uniform(0.55, 0.85);
  const double hue = rng.chance(0.75) ? rng.uniform(200, 222) : rng.uniform(10, 40);
  const Colour zenith = hsv(hue, rng.uniform(0.35, 0.7), rng.uniform(0.6, 0.95));
  const Colour haze = hsv(hue + rng.uniform(-20, 10), rng.uniform(0.05, 0.3), 0.97);
  const Colour grass = hsv(rng.uniform(55, 125), rng.uniform(0.3, 0.65), rng.uniform(0.45, 0.75));
  const Colour far = mix(hsv(rng.uniform(90, 230), 0.3, 0.5), haze, 0.45);
  const double clouds = rng.uniform(0.4, 0.62), rough = rng.uniform(0.06, 0.2);
  const uint64_t seed = rng.bits();
  fill(canvas, [&](Vec p) {
    const double ridge = horizon - rough * fractal_noise({p.x * 3, 7}, seed, 4);
    if (p.y < ridge) {
      const Colour sky = mix(zenith, haze, std::clamp(p.y / horizon, 0.0, 1.0));
      const double cloud = fractal_noise({p.x * 3.5, p.y * 7}, seed + 1, 5);
      return mix(sky, hsv(hue, 0.03, 0.99), std::clamp((cloud - clouds) * 4, 0.0, 0.9));
    }
    const double edge = horizon + 0.01 * noise({p.x * 40, 3}, seed);
    if (p.y < edge) return static_cast<float>(0.85 + 0.3 * fractal_noise(24.0 * p, seed + 2, 3)) * far;
    const Vec q = on_floor(p, horizon);
    const double blades = fractal_noise({q.x * 34, q.y * 12}, seed + 3, 3), patch = fractal_noise(2.0 * q, seed + 4, 2);
    return static_cast<float>(0.55 + 0.6 * blades + 0.3 * patch) * grass;
  });
  return {Home::kSky, (horizon + 0.03) / height, false};
}

Backdrop water(Canvas& canvas, Rng& rng) {
  const double height = share_of_height(canvas), bed = height * rng.uniform(0.75, 0.95);
  const double hue = rng.uniform(165, 225);
  const Colour top = hsv(hue, rng.uniform(0.3, 0.6), rng.uniform(0.7, 0.95));
  const Colour deep = hsv(hue + 12, rng.uniform(0.6, 0.9), rng.uniform(0.2, 0.5));
  const Colour sand = mix(hsv(40, 0.35, 0.85), deep, rng.uniform(0.2, 0.5));
  const double slant = rng.uniform(-0.6, 0.6);
  const uint64_t seed = rng.bits();
  fill(canvas, [&](Vec p) {
    const double beam = noise({(p.x + slant * p.y) * 9, 1}, seed) * std::max(0.0, 1 - p.y / height);
    const Colour here = mix(top, deep, std::clamp(p.y / height + 0.15 * fractal_noise(4.0 * p, seed + 1, 3), 0.0, 1.0));
    const double edge = bed + 0.05 * fractal_noise({p.x * 5, 2}, seed + 2, 3);
    if (p.y < edge) return mix(here, hsv(hue, 0.1, 1), 0.3 * beam * beam);
    const double ripples = fractal_noise({p.x * 14, p.y * 50}, seed + 3, 3);
    return static_cast<float>(0.75 + 0.45 * ripples) * sand;
  });
  // Weed, which is no plant of ours: background that looks like one.
  Light flat;
  flat.strength = 0.2;
  for (int64_t i = rng.below(14); i > 0; --i) {
    const Vec foot = {rng.uniform(0, canvas.width), canvas.height * rng.uniform(0.85, 1.05)};
    const double high = canvas.height * rng.uniform(0.1, 0.35), sway = rng.uniform(-0.5, 0.5);
    const Material weed = tinted(foliage(rng), 0.7f);
    const Figure strand{0, {{stroke(bend({0, 0}, {-sway, -0.5}, {sway, -1}, 10), 0.035, 0.008), weed, 0.03}}};
    paint_figure(canvas, strand, {foot, high, 0, false}, flat);
  }
  return {Home::kWater, bed / height, false};
}

Backdrop surface(Canvas& canvas, Rng& rng) {
  Material cover = rng.chance(0.35) ? wood(rng) : (rng.chance(0.4) ? fabric(rng) : any_material(rng));
  cover.frequency *= rng.uniform(0.8, 2.2);
  cover.unevenness += 0.1;
  const Colour tone = hsv(rng.uniform(0, 360), rng.uniform(0, 0.3), rng.uniform(0.5, 0.9));
  cover.first = mix(cover.first, tone, 0.35);
  cover.second = mix(cover.second, tone, 0.35);
  const double turn = rng.uniform(0, 3);
  const Vec along = direction(turn);
  fill(canvas, [&](Vec p) { return colour_at(cover, {dot(p, along), dot(p, {-along.y, along.x})}); });
  return {Home::kAnywhere, 0, true};
}

}  // namespace

Backdrop paint_backdrop(Canvas& canvas, Rng& rng) {
  switch (rng.below(6)) {
    case 0:
    case 1:
      return room(canvas, rng, false);
    case 2:
      return room(canvas, rng, true);
    case 3:
      return meadow(canvas, rng);
    case 4:
      return water(canvas, rng);
    default:
      return surface(canvas, rng);
  }
}

}  // namespace crisp::data::synth
