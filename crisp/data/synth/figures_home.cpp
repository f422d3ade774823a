// Things of the house: chair, lamp, plant, mug.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "crisp/data/synth/figures.h"

namespace crisp::data::synth {
namespace {

constexpr double kPi = std::numbers::pi;

Part bar(Vec from, Vec to, double half_width, const Material& material) {
  return {stroke({from, to}, half_width), material, half_width};
}

// A pointed leaf from its stalk, with the rib in its middle.
void add_leaf(std::vector<Part>& parts, Vec from, Vec to, double fullness, const Material& material) {
  const Vec along = to - from, across = {-along.y, along.x};
  std::vector<Vec> corners;
  constexpr int kSteps = 8;
  for (const double side : {1.0, -1.0}) {
    for (int i = 0; i < kSteps; ++i) {
      const double t = static_cast<double>(side > 0 ? i : kSteps - i) / kSteps;
      corners.push_back(from + t * along + side * fullness * std::sin(kPi * std::pow(t, 0.8)) * across);
    }
  }
  parts.push_back({polygon(corners), material, 0.06});
  parts.push_back({stroke({from, to}, 0.008, 0.003), tinted(material, 0.75f), 0.01});
}

void add_blades(std::vector<Part>& parts, Rng& rng, Vec root, const Material& material) {  // a tuft of grass
  for (int64_t i = 9 + rng.below(8); i > 0; --i) {
    const double lean = rng.uniform(-0.95, 0.95), high = rng.uniform(0.9, 1.35);
    const Vec tip = root + Vec{lean, -high * (1 - 0.35 * std::abs(lean))};
    const auto line = bend(root + Vec{rng.uniform(-0.12, 0.12), 0}, root + Vec{0.25 * lean, -high}, tip, 9);
    parts.push_back({stroke(line, rng.uniform(0.025, 0.045), 0.004),
                     tinted(material, static_cast<float>(rng.uniform(0.7, 1.15))), 0.03});
  }
}

void add_branches(std::vector<Part>& parts, Rng& rng, Vec root, const Material& material) {  // stems with leaves
  const Material stem = tinted(material, 0.6f);
  const double fullness = rng.uniform(0.18, 0.4), size = rng.uniform(0.22, 0.38);
  for (int64_t i = 4 + rng.below(4); i > 0; --i) {
    const double lean = rng.uniform(-0.7, 0.7);
    const Vec tip = root + Vec{lean, rng.uniform(-1.3, -0.8)};
    const auto line = bend(root, root + Vec{0.2 * lean, -0.7}, tip, 8);
    parts.push_back({stroke(line, 0.018, 0.01), stem, 0.02});
    for (size_t k = 3; k < line.size(); k += 2) {
      const double way = rng.uniform(0.3, 1.2) * (k % 4 == 3 ? 1 : -1) - kPi / 2;
      add_leaf(parts, line[k], line[k] + size * direction(way), fullness,
               tinted(material, static_cast<float>(rng.uniform(0.75, 1.15))));
    }
  }
}

void add_fronds(std::vector<Part>& parts, Rng& rng, Vec root, const Material& material) {  // broad leaves on stalks
  for (int64_t i = 5 + rng.below(5); i > 0; --i) {
    const double lean = rng.uniform(-0.8, 0.8), size = rng.uniform(0.35, 0.55);
    const Vec neck = root + Vec{0.6 * lean, rng.uniform(-0.9, -0.45)};
    parts.push_back({stroke(bend(root, root + Vec{0, -0.5}, neck, 6), 0.016), tinted(material, 0.7f), 0.02});
    add_leaf(parts, neck, neck + size * direction(-kPi / 2 + 1.2 * lean), rng.uniform(0.3, 0.45),
             tinted(material, static_cast<float>(rng.uniform(0.75, 1.2))));
  }
}

}  // namespace

std::vector<Part> build_chair(Rng& rng) {
  const Material frame = rng.chance(0.65) ? wood(rng) : (rng.chance(0.5) ? paint(rng) : metal(rng));
  const Material rear = tinted(frame, 0.72f);
  const bool padded = rng.chance(0.4);
  const double skew = rng.uniform(0.1, 0.25), half = rng.uniform(0.42, 0.55), seat = rng.uniform(0.12, 0.22);
  const double thin = rng.uniform(0.022, 0.045), splay = rng.uniform(0, 0.1), lean = rng.uniform(0, 0.12);
  const Vec front_left = {-half - skew / 2, seat + 0.14}, front_right = {half - skew / 2, seat + 0.14};
  const Vec rear_left = {-half + skew, seat - 0.1}, rear_right = {half + skew, seat - 0.1};
  const Vec top_left = rear_left + Vec{lean, -0.95}, top_right = rear_right + Vec{lean, -0.95};
  std::vector<Part> parts;
  parts.push_back(bar(rear_left, rear_left + Vec{splay, 0.92}, thin, rear));
  parts.push_back(bar(rear_right, rear_right + Vec{splay, 0.92}, thin, rear));
  // The back: slats across, spindles upright, or a panel.
  const auto between = [](Vec a, Vec b, double t) { return (1 - t) * a + t * b; };
  const int64_t style = rng.below(3);
  if (style == 2) {
    parts.push_back(
        {polygon({between(rear_left, top_left, 0.35), between(rear_right, top_right, 0.35), top_right, top_left}, 0.03),
         padded ? fabric(rng) : frame, 0.06});
  } else {
    const int count = 2 + static_cast<int>(rng.below(style == 0 ? 3 : 5));
    for (int i = 1; i <= count; ++i) {
      const double t = static_cast<double>(i) / (count + 1);
      if (style == 0) {
        const double high = 0.25 + 0.7 * t;
        parts.push_back(
            bar(between(rear_left, top_left, high), between(rear_right, top_right, high), 1.3 * thin, frame));
      } else {
        parts.push_back(bar(between(rear_left, rear_right, t), between(top_left, top_right, t), 0.6 * thin, frame));
      }
    }
    parts.push_back(bar(top_left, top_right, 1.6 * thin, frame));
  }
  parts.push_back(bar(rear_left, top_left, thin, frame));
  parts.push_back(bar(rear_right, top_right, thin, frame));
  if (rng.chance(0.5)) {  // a rung between the legs
    parts.push_back(bar(front_left + Vec{0, 0.5}, front_right + Vec{0, 0.5}, 0.7 * thin, rear));
  }
  parts.push_back(bar(front_left, {front_left.x - splay, 1}, thin, frame));
  parts.push_back(bar(front_right, {front_right.x - splay, 1}, thin, frame));
  parts.push_back(
      {polygon({rear_left, rear_right, front_right, front_left}, 0.05), padded ? fabric(rng) : frame, 0.07});
  return parts;
}

std::vector<Part> build_lamp(Rng& rng) {
  const Material stem = rng.chance(0.7) ? metal(rng) : wood(rng);
  Material cover = rng.chance(0.5) ? fabric(rng) : paint(rng);
  cover.first = mix(cover.first, hsv(48, 0.25, 1), 0.55);
  cover.second = mix(cover.second, hsv(45, 0.3, 1), 0.45);
  Material cable = paint(rng);
  cable.first = 0.35f * cable.first;
  const double narrow = rng.uniform(0.14, 0.26), wide = rng.uniform(0.36, 0.55), high = rng.uniform(0.38, 0.55);
  const double thin = rng.uniform(0.015, 0.03), glow = rng.chance(0.7) ? rng.uniform(0.5, 0.9) : 0.0;
  std::vector<Part> parts;
  const auto shade_at = [&](Vec top) {
    return Part{
        polygon({top + Vec{-narrow, 0}, top + Vec{narrow, 0}, top + Vec{wide, high}, top + Vec{-wide, high}}, 0.02),
        cover, 0.12, glow};
  };
  // The cable runs over the ground and out to one side.
  const double end = rng.uniform(0.8, 1.2);
  std::vector<Vec> line = bend({0, 0.95}, {0.5 * end, 1.0 + rng.uniform(-0.02, 0.03)}, {0.6 * end, 0.93}, 5);
  const auto rest = bend({0.6 * end, 0.93}, {0.75 * end, 0.84}, {end, 0.95}, 5);
  line.insert(line.end(), rest.begin() + 1, rest.end());
  parts.push_back({stroke(line, 0.013), cable, 0.013});
  const Part foot = {ellipse({0, 0.93}, rng.uniform(0.26, 0.38), rng.uniform(0.06, 0.1)), stem, 0.05};
  if (rng.chance(0.45)) {  // a reading lamp with a bent arm
    const double reach = rng.uniform(0.25, 0.5);
    const Vec elbow = {-reach, rng.uniform(-0.15, 0.2)}, top = {rng.uniform(0, 0.25), -0.95};
    parts.push_back(foot);
    parts.push_back(bar({0, 0.9}, elbow, thin, stem));
    parts.push_back(bar(elbow, top, thin, stem));
    parts.push_back({disc(elbow, 2 * thin), stem, 2 * thin});
    parts.push_back(shade_at(top + Vec{0, -0.05}));
  } else {  // a standard lamp
    parts.push_back(bar({0, -0.7}, {0, 0.92}, thin, stem));
    parts.push_back(foot);
    parts.push_back(shade_at({0, -1}));
    if (rng.chance(0.5)) parts.push_back(bar({0.12, -1 + high}, {0.12, -0.8 + high}, 0.008, stem));  // the pull
  }
  return parts;
}

std::vector<Part> build_plant(Rng& rng) {
  const double top = rng.uniform(0.28, 0.38), bottom = rng.uniform(0.18, 0.28), rim = rng.uniform(0.3, 0.45);
  Material pot = ceramic(rng);
  if (rng.chance(0.5)) {  // terracotta
    pot.pattern = Pattern::kSpeckle;
    pot.first = hsv(rng.uniform(12, 24), 0.6, rng.uniform(0.5, 0.75));
    pot.second = 0.85f * pot.first;
  }
  const Material leaf = foliage(rng);
  std::vector<Part> parts;
  const Vec root = {0, rim + 0.02};
  switch (rng.below(3)) {
    case 0:
      add_blades(parts, rng, root, leaf);
      break;
    case 1:
      add_branches(parts, rng, root, leaf);
      break;
    default:
      add_fronds(parts, rng, root, leaf);
  }
  parts.push_back({polygon({{-top, rim}, {top, rim}, {bottom, 1}, {-bottom, 1}}), pot, 0.15});
  parts.push_back(
      {polygon({{-top - 0.03, rim}, {top + 0.03, rim}, {top + 0.02, rim + 0.1}, {-top - 0.02, rim + 0.1}}, 0.015),
       tinted(pot, 1.08f), 0.05});
  return parts;
}

std::vector<Part> build_mug(Rng& rng) {
  const Material glaze = ceramic(rng);
  const double half = rng.uniform(0.45, 0.6), foot = half * rng.uniform(0.75, 1), top = rng.uniform(-0.6, -0.3);
  const double dip = rng.uniform(0.08, 0.15), thick = rng.uniform(0.05, 0.09), handle = rng.uniform(0.25, 0.34);
  std::vector<Part> parts;
  parts.push_back({stroke(arc({half * 0.94, (top + 0.9) / 2}, handle, -kPi / 2, kPi / 2, 14), thick), glaze, thick});
  std::vector<Vec> body = arc({0, 0}, 1, 0, kPi, 10);  // the round foot, then up to the brim
  for (Vec& p : body) p = {p.x * foot, 0.88 + p.y * 0.12};
  body.push_back({-half, top});
  body.push_back({half, top});
  parts.push_back({polygon(body, 0.01), glaze, 0.22});
  parts.push_back({ellipse({0, top}, half, dip), tinted(glaze, 1.1f), 0.03});
  Material drink;
  drink.first = rng.chance(0.6) ? hsv(25, 0.7, rng.uniform(0.15, 0.45)) : hsv(rng.uniform(30, 60), 0.4, 0.8);
  parts.push_back({ellipse({0, top + 0.015}, half * 0.86, dip * 0.72), drink, 0});
  if (rng.chance(0.4)) {  // the string of a tea bag, or a spoon
    const double x = rng.uniform(-0.3, 0.3) * half;
    parts.push_back({stroke(bend({x, top}, {x - 0.12, top + dip}, {x - 0.1, top + 0.55}, 6), 0.01), paint(rng), 0});
    const Vec tag = {x - 0.1, top + 0.6};
    parts.push_back(
        {polygon({tag + Vec{-0.07, -0.07}, tag + Vec{0.07, -0.07}, tag + Vec{0.07, 0.08}, tag + Vec{-0.07, 0.08}}),
         paint(rng), 0.01});
  } else if (rng.chance(0.4)) {
    parts.push_back(bar({-0.1 * half, top}, {0.45 * half, top - 0.55}, 0.025, metal(rng)));
  }
  return parts;
}

}  // namespace crisp::data::synth
