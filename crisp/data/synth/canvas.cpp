#include "crisp/data/synth/canvas.h"

#include <algorithm>
#include <cmath>

namespace crisp::data::synth {
namespace {

constexpr double kThinnest = 0.65;  // pixels, half width

// Pixels to figure units and back.
class View {
 public:
  explicit View(const Placement& placement) : placement_(placement), x_axis_(direction(placement.angle)) {}

  Vec to_figure(Vec pixel) const {
    const Vec offset = (1 / placement_.scale) * (pixel - placement_.centre);
    const double x = dot(offset, x_axis_), y = dot(offset, {-x_axis_.y, x_axis_.x});
    return {placement_.mirrored ? -x : x, y};
  }
  Vec to_pixels(Vec point) const {
    const double x = placement_.mirrored ? -point.x : point.x;
    return placement_.centre + placement_.scale * (x * x_axis_ + point.y * Vec{-x_axis_.y, x_axis_.x});
  }

  // Pixels that a box in figure units may touch, within the canvas.
  struct Range {
    int x0, y0, x1, y1;
  };
  Range cover(const Box& box, double margin_pixels, const Canvas& canvas) const {
    Vec low = {1e9, 1e9}, high = {-1e9, -1e9};
    for (const Vec corner : {box.low, Vec{box.high.x, box.low.y}, box.high, Vec{box.low.x, box.high.y}}) {
      const Vec p = to_pixels(corner);
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    const auto clip = [](double value, int most) { return static_cast<int>(std::clamp(value, 0.0, double(most))); };
    return {clip(std::floor(low.x - margin_pixels), canvas.width),
            clip(std::floor(low.y - margin_pixels), canvas.height),
            clip(std::ceil(high.x + margin_pixels) + 1, canvas.width),
            clip(std::ceil(high.y + margin_pixels) + 1, canvas.height)};
  }

 private:
  Placement placement_;
  Vec x_axis_;
};

// Thin strokes and rings keep a width that a pixel can show.
Shape thickened(const Shape& shape, double scale) {
  Shape thick = shape;
  if (shape.kind != Shape::Kind::kStroke && shape.kind != Shape::Kind::kRing) return thick;
  thick.radius = std::max(thick.radius, kThinnest / scale);
  thick.radius_end = std::max(thick.radius_end, kThinnest / scale);
  return thick;
}

Vec slope_at(const Shape& shape, Vec p, double d, double step) {
  const Vec slope = {distance(shape, {p.x + step, p.y}) - d, distance(shape, {p.x, p.y + step}) - d};
  return (1 / std::max(length(slope), 1e-9)) * slope;
}

void paint_part(Canvas& canvas, const Part& part, int label, const View& view, double scale, Vec light,
                double strength) {
  const Shape shape = thickened(part.shape, scale);
  const double bevel = std::max(part.bevel, 1e-6);
  const View::Range range = view.cover(bounds(shape), 1, canvas);
  for (int y = range.y0; y < range.y1; ++y) {
    for (int x = range.x0; x < range.x1; ++x) {
      const Vec p = view.to_figure({x + 0.5, y + 0.5});
      const double d = distance(shape, p);
      const double cover = std::clamp(0.5 - d * scale, 0.0, 1.0);
      if (cover <= 0) continue;
      double shade = 1 + 0.12 * strength * dot(p, light);
      if (d > -bevel) {
        const double round = std::clamp(1 + d / bevel, 0.0, 1.0);
        shade += strength * round * dot(slope_at(shape, p, d, 0.3 / scale), light);
      }
      shade = shade * (1 - part.glow) + 1.15 * part.glow;
      const size_t at = canvas.at(x, y);
      canvas.pixels[at] = mix(canvas.pixels[at], static_cast<float>(shade) * colour_at(part.material, p), cover);
      if (d <= 0) canvas.labels[at] = static_cast<uint8_t>(label);
    }
  }
}

}  // namespace

void cast_shadow(Canvas& canvas, const Figure& figure, const Placement& placement, const Light& light) {
  Placement moved = placement;
  moved.centre = placement.centre - light.distance * placement.scale * light.from;
  const View view(moved);
  const double blur = std::max(1.5, 0.8 * light.distance * placement.scale);  // pixels
  std::vector<float> dark(canvas.pixels.size());
  for (const Part& part : figure.parts) {
    const Shape shape = thickened(part.shape, placement.scale);
    const View::Range range = view.cover(bounds(shape), blur, canvas);
    for (int y = range.y0; y < range.y1; ++y) {
      for (int x = range.x0; x < range.x1; ++x) {
        const double d = distance(shape, view.to_figure({x + 0.5, y + 0.5})) * placement.scale;
        float& here = dark[canvas.at(x, y)];
        here = std::max(here, static_cast<float>(std::clamp(0.5 - 0.5 * d / blur, 0.0, 1.0)));
      }
    }
  }
  for (size_t i = 0; i < dark.size(); ++i) {
    if (dark[i] > 0) canvas.pixels[i] = static_cast<float>(1 - light.shadow * dark[i]) * canvas.pixels[i];
  }
}

void paint_figure(Canvas& canvas, const Figure& figure, const Placement& placement, const Light& light) {
  const View view(placement);
  const Vec towards = direction(-placement.angle);  // the light, seen from the turned figure
  Vec from = {light.from.x * towards.x - light.from.y * towards.y, light.from.x * towards.y + light.from.y * towards.x};
  if (placement.mirrored) from.x = -from.x;
  for (const Part& part : figure.parts) {
    paint_part(canvas, part, figure.label, view, placement.scale, from, light.strength);
  }
}

}  // namespace crisp::data::synth
