// Things of the open air and the water: wheel, kite, fish, umbrella.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "crisp/data/synth/figures.h"

namespace crisp::data::synth {
namespace {

constexpr double kPi = std::numbers::pi;

}  // namespace

std::vector<Part> build_wheel(Rng& rng) {
  const bool is_cart = rng.chance(0.35);  // wooden, with few thick spokes
  const Material rim = is_cart ? wood(rng) : metal(rng);
  Material tyre = rng.chance(0.7) ? metal(rng) : paint(rng);
  tyre.pattern = Pattern::kSpeckle;
  tyre.first = 0.3f * tyre.first;
  tyre.second = 0.5f * tyre.second;
  const double width = is_cart ? rng.uniform(0.05, 0.09) : rng.uniform(0.04, 0.08);
  const int spokes = is_cart ? 6 + static_cast<int>(rng.below(5)) : 10 + static_cast<int>(rng.below(11));
  const double thin = is_cart ? rng.uniform(0.03, 0.05) : 0.008;
  const double start = rng.uniform(0, kPi), hub = is_cart ? 0.17 : rng.uniform(0.07, 0.11);
  const double slant = is_cart ? 0.0 : rng.uniform(0.2, 0.5);  // wire spokes leave the hub at its side
  std::vector<Part> parts;
  for (int i = 0; i < spokes; ++i) {
    const double way = start + 2 * kPi * i / spokes, side = i % 2 == 0 ? slant : -slant;
    parts.push_back({stroke({hub * direction(way + 2 * side), (0.96 - width) * direction(way)}, thin), rim, thin});
  }
  const double outer = 1 - width;
  parts.push_back({ring({0, 0}, outer - width - 0.02, is_cart ? 0.05 : 0.022), rim, 0.04});
  parts.push_back({ring({0, 0}, outer, width), is_cart ? tinted(rim, 0.7f) : tyre, width});
  parts.push_back({disc({0, 0}, hub), rim, hub});
  parts.push_back({disc({0, 0}, 0.4 * hub), tinted(rim, 0.5f), 0.02});
  return parts;
}

std::vector<Part> build_kite(Rng& rng) {
  const Material first = rng.chance(0.6) ? paint(rng) : fabric(rng),
                 second = rng.chance(0.6) ? paint(rng) : fabric(rng);
  const double half = rng.uniform(0.42, 0.6), cross = rng.uniform(-0.62, -0.45);
  const Vec top = {0, -1}, left = {-half, cross}, right = {half, cross}, low = {0, 0.25}, middle = {0, cross};
  Material spar = wood(rng);
  std::vector<Part> parts;
  // The tail: a waving line with bows.
  std::vector<Vec> tail;
  const double wave = rng.uniform(0.08, 0.18), drift = rng.uniform(-0.4, 0.4), phase = rng.uniform(0, 6);
  for (int i = 0; i <= 18; ++i) {
    const double t = i / 18.0;
    tail.push_back(low +
                   Vec{drift * t * t + wave * t * std::sin(9 * t + phase) - wave * t * std::sin(phase), 0.85 * t});
  }
  parts.push_back({stroke(tail, 0.012), second, 0});
  for (size_t i = 4; i < tail.size(); i += 4) {
    const Vec p = tail[i];
    const double turn = rng.uniform(-0.5, 0.5);
    for (const double side : {0.0, kPi}) {
      parts.push_back({polygon({p, p + 0.13 * direction(turn + side + 0.45), p + 0.13 * direction(turn + side - 0.45)}),
                       i % 8 == 0 ? first : second, 0.02});
    }
  }
  parts.push_back({stroke(bend(middle, {0.35, 0.5}, {rng.uniform(0.5, 1.0), 1.0}, 10), 0.006), spar, 0});  // the line
  parts.push_back({polygon({top, right, middle}), first, 0.03});
  parts.push_back({polygon({top, middle, left}), second, 0.03});
  parts.push_back({polygon({right, low, middle}), second, 0.03});
  parts.push_back({polygon({left, middle, low}), first, 0.03});
  parts.push_back({stroke({top, low}, 0.014), spar, 0.014});
  parts.push_back({stroke({left, right}, 0.014), spar, 0.014});
  return parts;
}

std::vector<Part> build_fish(Rng& rng) {
  Material skin = paint(rng);
  const Material fins = tinted(skin, static_cast<float>(rng.uniform(0.65, 1.2)));
  skin.pattern = Pattern::kScales;
  skin.second = mix(skin.first, hsv(rng.uniform(0, 360), 0.3, 1), rng.uniform(0.35, 0.6));
  skin.frequency = rng.uniform(7, 12);
  skin.angle = 0;
  const double high = rng.uniform(0.28, 0.5), tail = rng.uniform(0.3, 0.5), belly = rng.uniform(0.8, 1.1);
  std::vector<Vec> body;
  constexpr int kSteps = 14;
  for (const double side : {-1.0, 1.0}) {
    for (int i = 0; i < kSteps; ++i) {
      const double t = static_cast<double>(side < 0 ? i : kSteps - i) / kSteps;
      const double thick = std::sin(kPi * std::pow(t, 0.75)) + 0.16 * t;
      body.push_back({-0.95 + 1.5 * t, side * high * thick * (side > 0 ? belly : 1)});
    }
  }
  std::vector<Part> parts;
  const Vec root = {0.48, 0};
  parts.push_back(
      {polygon({root + Vec{0, -0.06}, {1, -tail}, {0.86, 0}, {1, tail}, root + Vec{0, 0.06}}, 0.02), fins, 0.04});
  const double back = -high * 0.9;
  parts.push_back(
      {polygon({{-0.35, back}, {-0.1, back - rng.uniform(0.15, 0.3)}, {0.3, back * 0.55 - 0.1}, {0.3, back * 0.5}},
               0.02),
       fins, 0.03});
  const double keel = high * belly;
  parts.push_back(
      {polygon({{0.0, keel * 0.8}, {0.12, keel + rng.uniform(0.1, 0.2)}, {0.28, keel * 0.5}}, 0.02), fins, 0.03});
  for (int i = -2; i <= 2; ++i) {  // rays of the tail fin
    parts.push_back({stroke({root + Vec{0.05, 0}, {0.9, tail * 0.4 * i}}, 0.007), tinted(fins, 0.7f), 0});
  }
  parts.push_back({polygon(body), skin, 0.2});
  if (rng.chance(0.5)) {  // bands
    const Material band = rng.chance(0.5) ? tinted(skin, 0.35f) : tinted(skin, 1.5f);
    for (double x = -0.35; x < 0.3; x += rng.uniform(0.2, 0.35)) {
      const double t = (x + 0.95) / 1.5, reach = 0.9 * high * (std::sin(kPi * std::pow(t, 0.75)) + 0.16 * t);
      parts.push_back(
          {stroke(bend({x, -reach}, {x + 0.1, 0}, {x, reach * belly}, 6), rng.uniform(0.02, 0.045)), band, 0.03});
    }
  }
  parts.push_back(
      {stroke(bend({-0.52, -0.6 * high}, {-0.4, 0}, {-0.52, 0.6 * high}, 6), 0.012), tinted(skin, 0.6f), 0});
  parts.push_back({polygon({{-0.3, 0.05}, {0.02, 0.02}, {-0.05, 0.2}}, 0.02), fins, 0.03});
  Material white, black;
  white.first = hsv(50, 0.08, 0.96);
  black.first = hsv(0, 0, 0.06);
  const Vec eye = {-0.7, -0.22 * high};
  parts.push_back({disc(eye, 0.075), white, 0.03});
  parts.push_back({disc(eye + Vec{-0.01, 0}, 0.042), black, 0.02});
  return parts;
}

std::vector<Part> build_umbrella(Rng& rng) {
  const Material first = rng.chance(0.5) ? paint(rng) : fabric(rng);
  Material second = rng.chance(0.5) ? tinted(first, 0.7f) : paint(rng);
  const Material shaft = rng.chance(0.5) ? wood(rng) : metal(rng);
  const double rise = rng.uniform(0.55, 0.8), base = -0.15, thin = rng.uniform(0.015, 0.025);
  std::vector<Part> parts;
  const double hook = 0.1;
  std::vector<Vec> handle = arc({hook, 0.88}, hook, kPi, 0, 8);
  handle.insert(handle.begin(), {0, base - 0.2});
  parts.push_back({stroke(handle, thin), shaft, thin});
  const int panels = 4 + static_cast<int>(rng.below(3));
  // Each panel runs from the tip down to its arc of the scalloped edge.
  const auto rib = [&](double t) {  // the place of a seam on the edge, seen from the side
    return -std::cos(kPi * t);
  };
  for (int i = 0; i < panels; ++i) {
    const double left = rib(static_cast<double>(i) / panels), right = rib(static_cast<double>(i + 1) / panels);
    std::vector<Vec> outline;
    for (int k = 0; k <= 6; ++k) {  // up the left seam
      const double t = kPi / 2 * k / 6;
      outline.push_back({left * std::cos(t), base - rise * std::sin(t)});
    }
    for (int k = 5; k >= 0; --k) {  // down the right one
      const double t = kPi / 2 * k / 6;
      outline.push_back({right * std::cos(t), base - rise * std::sin(t)});
    }
    const auto edge = bend({right, base}, {(left + right) / 2, base - 0.3 * (right - left)}, {left, base}, 6);
    outline.insert(outline.end(), edge.begin() + 1, edge.end() - 1);
    parts.push_back({polygon(outline), i % 2 == 0 ? first : second, 0.05});
  }
  parts.push_back({stroke({{0, base - rise - 0.1}, {0, base - rise}}, thin), shaft, thin});
  return parts;
}

}  // namespace crisp::data::synth
