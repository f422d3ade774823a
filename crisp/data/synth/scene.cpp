#include "crisp/data/synth/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "crisp/data/synth/backdrop.h"
#include "crisp/data/synth/canvas.h"
#include "crisp/data/synth/figures.h"

namespace crisp::data::synth {
namespace {

struct Actor {
  Figure figure;
  Placement place;
  double base = 0;  // y of its lowest point: who stands lower is nearer
};

Light draw_light(Rng& rng) {
  Light light;
  const double angle = rng.uniform(-2.6, -0.5);
  light.from = direction(angle);
  light.strength = rng.uniform(0.2, 0.5);
  light.shadow = rng.uniform(0.2, 0.55);
  light.distance = rng.uniform(0.03, 0.12);
  return light;
}

// Scale of a figure: mostly middling, now and then small or filling the picture.
double draw_scale(Rng& rng, double side, double zoom) {
  const double kind = rng.uniform();
  const double share = kind < 0.2   ? rng.uniform(0.07, 0.13)
                       : kind < 0.8 ? rng.uniform(0.15, 0.32)
                                    : rng.uniform(0.32, 0.48);
  return side * std::min(0.55, zoom * share);
}

Placement place_figure(const FigureClass& kind, const Backdrop& backdrop, const Canvas& canvas, Rng& rng, double zoom) {
  Placement place;
  const double side = std::min(canvas.width, canvas.height);
  place.scale = draw_scale(rng, side, zoom);
  place.mirrored = rng.chance(0.5);
  place.angle = rng.uniform(-kind.turn, kind.turn);
  const double margin = std::min(0.7 * place.scale, 0.4 * side);
  place.centre = {rng.uniform(margin, canvas.width - margin), rng.uniform(margin, canvas.height - margin)};
  if (backdrop.from_above) {
    if (rng.chance(0.6)) place.angle = rng.uniform(-3.1, 3.1);
  } else if (kind.stands) {  // nearer things stand lower and are larger
    const double top = backdrop.ground * canvas.height, depth = std::clamp(place.scale / (0.4 * side), 0.0, 1.0);
    const double foot = top + (canvas.height - top) * std::clamp(depth + rng.uniform(-0.25, 0.25), 0.02, 1.1);
    place.centre.y = foot - place.scale;
  }
  return place;
}

// Whether two figures hide each other too much.
bool crowds(const Placement& a, const Placement& b) {
  const double apart = length(a.centre - b.centre), small = std::min(a.scale, b.scale),
               large = std::max(a.scale, b.scale);
  return apart < 0.6 * large + 0.35 * small;
}

// Classes at home in the backdrop are met four times as often as the others.
size_t draw_class(Rng& rng, const Backdrop& backdrop, size_t count) {
  const auto& kinds = figure_classes();
  for (int i = 0; i < 8; ++i) {
    const auto pick = static_cast<size_t>(rng.below(static_cast<int64_t>(count)));
    const bool at_home =
        backdrop.home == kinds[pick].home || kinds[pick].home == Home::kAnywhere || backdrop.home == Home::kAnywhere;
    if (at_home || rng.chance(0.25)) return pick;
  }
  return static_cast<size_t>(rng.below(static_cast<int64_t>(count)));
}

void add_clutter(std::vector<Actor>& actors, const Backdrop& backdrop, const Canvas& canvas, Rng& rng) {
  const double side = std::min(canvas.width, canvas.height);
  for (int64_t i = 1 + rng.below(7); i > 0; --i) {
    Actor actor;
    const bool in_the_air = !backdrop.from_above && rng.chance(0.35);
    actor.figure.parts = clutter(rng, in_the_air);
    actor.place.scale = side * rng.uniform(0.03, 0.16);
    actor.place.angle = backdrop.from_above ? rng.uniform(-3.1, 3.1) : rng.uniform(-0.15, 0.15);
    const double top = backdrop.from_above || in_the_air ? 0.0 : std::min(0.95, backdrop.ground);
    const double low = in_the_air ? backdrop.ground - 0.1 : 1.0;
    actor.place.centre = {rng.uniform(0, canvas.width), canvas.height * rng.uniform(top, low)};
    actor.base = actor.place.centre.y + actor.place.scale * rng.uniform(0.2, 0.8);
    actors.push_back(std::move(actor));
  }
}

// Exposure, colour of the light, a gradient across the picture, a darker rim and the sensor's grain.
void develop(Canvas& canvas, Rng& rng) {
  const double exposure = rng.uniform(0.92, 1.28), contrast = rng.uniform(0.9, 1.15), warmth = rng.uniform(-0.08, 0.08);
  const double rim = rng.uniform(0, 0.35), slope = rng.uniform(0, 0.25), grain = rng.uniform(0.005, 0.03);
  const Vec way = direction(rng.uniform(0, 6.3));
  for (int y = 0; y < canvas.height; ++y) {
    for (int x = 0; x < canvas.width; ++x) {
      const Vec p = {2.0 * x / canvas.width - 1, 2.0 * y / canvas.height - 1};
      const double light = exposure * (1 + slope * dot(p, way)) * (1 - 0.5 * rim * dot(p, p));
      const double noise = grain * (rng.uniform() + rng.uniform() - 1);
      Colour& c = canvas.pixels[canvas.at(x, y)];
      const auto curve = [&](float v, double tint) {
        const double lit = v * light * tint;
        return static_cast<float>(std::clamp(0.5 + contrast * (lit - 0.5) + noise, 0.0, 1.0));
      };
      c = {curve(c.r, 1 + warmth), curve(c.g, 1), curve(c.b, 1 - warmth)};
    }
  }
}

Canvas compose(int width, int height, int classes, Rng& rng, double zoom) {
  Canvas canvas(width, height);
  const Light light = draw_light(rng);
  const Backdrop backdrop = paint_backdrop(canvas, rng);
  const auto& kinds = figure_classes();
  std::vector<Actor> actors;
  const auto wanted = static_cast<size_t>(1 + rng.below(3) + rng.below(2));
  for (int tries = 0; actors.size() < wanted && tries < 40; ++tries) {
    const size_t pick = draw_class(rng, backdrop, static_cast<size_t>(classes - 1));
    Actor actor;
    actor.place = place_figure(kinds[pick], backdrop, canvas, rng, zoom);
    const bool crowded =
        std::any_of(actors.begin(), actors.end(), [&](const Actor& other) { return crowds(actor.place, other.place); });
    if (crowded) continue;
    actor.figure = {static_cast<int>(pick) + 1, kinds[pick].build(rng)};
    actor.base = actor.place.centre.y + actor.place.scale;
    actors.push_back(std::move(actor));
  }
  add_clutter(actors, backdrop, canvas, rng);
  std::stable_sort(actors.begin(), actors.end(), [](const Actor& a, const Actor& b) { return a.base < b.base; });
  for (const Actor& actor : actors) {
    cast_shadow(canvas, actor.figure, actor.place, light);
    paint_figure(canvas, actor.figure, actor.place, light);
  }
  develop(canvas, rng);
  return canvas;
}

bool shows_enough(const Canvas& canvas) {
  std::array<int, 256> counts{};
  for (const uint8_t label : canvas.labels) ++counts[label];
  bool any = false;
  for (size_t label = 1; label < counts.size(); ++label) {
    if (counts[label] > 0 && counts[label] < kFewestPixels) return false;
    any = any || counts[label] > 0;
  }
  return any;
}

}  // namespace

Scene render_scene(int width, int height, int classes, Rng rng, double zoom) {
  Canvas canvas = compose(width, height, classes, rng, zoom);
  for (int tries = 0; !shows_enough(canvas) && tries < 20; ++tries) canvas = compose(width, height, classes, rng, zoom);
  Scene scene{image::Image(width, height), image::Mask(width, height)};
  for (size_t i = 0; i < canvas.pixels.size(); ++i) {
    const Colour c = canvas.pixels[i];
    const std::array<float, 3> channels = {c.r, c.g, c.b};
    for (size_t k = 0; k < 3; ++k) scene.photo.rgb[3 * i + k] = static_cast<uint8_t>(channels[k] * 255.0f + 0.5f);
  }
  scene.truth.labels = std::move(canvas.labels);
  return scene;
}

}  // namespace crisp::data::synth
