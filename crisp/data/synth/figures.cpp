#include "crisp/data/synth/figures.h"

#include <cmath>
#include <numbers>

namespace crisp::data::synth {
namespace {

constexpr double kPi = std::numbers::pi;

Part stone(Rng& rng) {
  std::vector<Vec> corners;
  const int count = 5 + static_cast<int>(rng.below(5));
  for (int i = 0; i < count; ++i) {
    const Vec way = direction(2 * kPi * (i + rng.uniform(0, 0.7)) / count);
    corners.push_back(rng.uniform(0.45, 0.75) * Vec{way.x, 0.7 * way.y});
  }
  return {polygon(corners, 0.15), any_material(rng), 0.3};
}

}  // namespace

const std::vector<FigureClass>& figure_classes() {
  // The first five meet in the demo, so that every kind of backdrop has something at home in it.
  static const std::vector<FigureClass> classes = {
      {"wheel", build_wheel, Home::kAnywhere, true, 0.0}, {"chair", build_chair, Home::kRoom, true, 0.06},
      {"kite", build_kite, Home::kSky, false, 0.7},       {"plant", build_plant, Home::kAnywhere, true, 0.06},
      {"fish", build_fish, Home::kWater, false, 0.45},    {"lamp", build_lamp, Home::kRoom, true, 0.04},
      {"mug", build_mug, Home::kRoom, true, 0.1},         {"umbrella", build_umbrella, Home::kSky, false, 0.6},
  };
  return classes;
}

std::vector<Part> clutter(Rng& rng, bool in_the_air) {
  switch (in_the_air ? 4 + rng.below(3) : rng.below(7)) {
    case 0:
      return {stone(rng)};
    case 1: {  // a box with a lid
      const double wide = rng.uniform(0.5, 1), high = rng.uniform(0.3, 0.8);
      const Material side = any_material(rng);
      return {{polygon({{-wide, -high}, {wide, -high}, {wide, high}, {-wide, high}}), side, 0.04},
              {polygon({{-wide, -high}, {wide, -high}, {wide, -0.7 * high}, {-wide, -0.7 * high}}), paint(rng), 0.03}};
    }
    case 4:  // a ball
      return {{disc({0, 0}, rng.uniform(0.5, 0.9)), any_material(rng), 0.7}};
    case 3: {  // a pile of books
      std::vector<Part> books;
      double top = 0.9;
      for (int64_t i = 2 + rng.below(4); i > 0; --i) {
        const double thick = rng.uniform(0.14, 0.3), left = rng.uniform(-0.9, -0.5), right = rng.uniform(0.5, 0.9);
        books.push_back({polygon({{left, top - thick}, {right, top - thick}, {right, top}, {left, top}}, 0.02),
                         rng.chance(0.6) ? paint(rng) : fabric(rng), 0.05});
        top -= thick + 0.03;
      }
      return books;
    }
    case 2: {  // sticks
      std::vector<Part> sticks;
      for (int64_t i = 1 + rng.below(4); i > 0; --i) {
        const Vec from = {rng.uniform(-1, 1), rng.uniform(-1, 1)}, to = {rng.uniform(-1, 1), rng.uniform(-1, 1)};
        const Vec control = {rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5)};
        const double thick = rng.uniform(0.015, 0.06);
        sticks.push_back({stroke(bend(from, control, to, 8), thick, 0.5 * thick), any_material(rng), thick});
      }
      return sticks;
    }
    case 5: {  // a picture in its frame
      const double wide = rng.uniform(0.5, 0.9), high = rng.uniform(0.5, 0.9), rim = rng.uniform(0.06, 0.14);
      const auto rectangle = [](double w, double h) { return polygon({{-w, -h}, {w, -h}, {w, h}, {-w, h}}); };
      return {{rectangle(wide, high), rng.chance(0.5) ? wood(rng) : paint(rng), 0.06},
              {rectangle(wide - rim, high - rim), any_material(rng), 0},
              {disc({rng.uniform(-0.2, 0.2), rng.uniform(-0.1, 0.2)}, 0.25), any_material(rng), 0.02}};
    }
    default: {  // bunting: small flags on a line
      const Vec from = {-1, rng.uniform(-0.3, 0.1)}, to = {1, rng.uniform(-0.3, 0.1)};
      const std::vector<Vec> line = bend(from, {0, rng.uniform(0.2, 0.6)}, to, 12);
      std::vector<Part> parts = {{stroke(line, 0.012), paint(rng), 0}};
      for (size_t i = 1; i < line.size() - 1; i += 2) {
        const Vec p = line[i];
        parts.push_back({polygon({p + Vec{-0.09, 0}, p + Vec{0.09, 0}, p + Vec{0, 0.24}}), fabric(rng), 0.02});
      }
      return parts;
    }
  }
}

}  // namespace crisp::data::synth
