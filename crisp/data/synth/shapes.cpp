#include "crisp/data/synth/shapes.h"

#include <algorithm>
#include <utility>

namespace crisp::data::synth {
namespace {

double ellipse_distance(Vec p, Vec radii) {
  const Vec unit = {p.x / radii.x, p.y / radii.y}, slope = {unit.x / radii.x, unit.y / radii.y};
  const double k = length(unit), steep = length(slope);
  if (steep < 1e-9) return -std::min(radii.x, radii.y);
  return k * (k - 1) / steep;
}

double stroke_distance(const Shape& shape, Vec p) {
  const size_t pieces = shape.points.size() - 1;
  double best = 1e9;
  for (size_t i = 0; i < pieces; ++i) {
    const Vec a = shape.points[i], along = shape.points[i + 1] - a, to = p - a;
    const double t = std::clamp(dot(to, along) / std::max(dot(along, along), 1e-12), 0.0, 1.0);
    const double place = (static_cast<double>(i) + t) / static_cast<double>(pieces);
    const double half_width = shape.radius + (shape.radius_end - shape.radius) * place;
    best = std::min(best, length(to - t * along) - half_width);
  }
  return best;
}

double polygon_distance(const std::vector<Vec>& corners, Vec p) {
  double nearest = 1e18;
  bool inside = false;
  for (size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
    const Vec edge = corners[j] - corners[i], to = p - corners[i];
    const double t = std::clamp(dot(to, edge) / std::max(dot(edge, edge), 1e-12), 0.0, 1.0);
    const Vec off = to - t * edge;
    nearest = std::min(nearest, dot(off, off));
    const bool crosses = (corners[i].y > p.y) != (corners[j].y > p.y);
    if (crosses && p.x < corners[i].x + edge.x * (p.y - corners[i].y) / edge.y) inside = !inside;
  }
  return inside ? -std::sqrt(nearest) : std::sqrt(nearest);
}

}  // namespace

Shape ellipse(Vec centre, double radius_x, double radius_y) {
  return {Shape::Kind::kEllipse, {centre, {radius_x, radius_y}}, 0, 0};
}

Shape ring(Vec centre, double radius, double half_width) {
  return {Shape::Kind::kRing, {centre, {radius, radius}}, half_width, half_width};
}

Shape stroke(std::vector<Vec> points, double half_width, double half_width_end) {
  return {Shape::Kind::kStroke, std::move(points), half_width, half_width_end};
}

Shape polygon(std::vector<Vec> corners, double rounding) {
  return {Shape::Kind::kPolygon, std::move(corners), rounding, rounding};
}

std::vector<Vec> arc(Vec centre, double radius, double from, double to, int steps) {
  std::vector<Vec> points;
  for (int i = 0; i <= steps; ++i) points.push_back(centre + radius * direction(from + (to - from) * i / steps));
  return points;
}

std::vector<Vec> bend(Vec from, Vec control, Vec to, int steps) {
  std::vector<Vec> points;
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    points.push_back((1 - t) * (1 - t) * from + 2 * t * (1 - t) * control + t * t * to);
  }
  return points;
}

double distance(const Shape& shape, Vec p) {
  switch (shape.kind) {
    case Shape::Kind::kEllipse:
      return ellipse_distance(p - shape.points[0], shape.points[1]);
    case Shape::Kind::kRing:
      return std::abs(length(p - shape.points[0]) - shape.points[1].x) - shape.radius;
    case Shape::Kind::kStroke:
      return stroke_distance(shape, p);
    default:
      return polygon_distance(shape.points, p) - shape.radius;
  }
}

Box bounds(const Shape& shape) {
  const double margin = std::max(shape.radius, shape.radius_end);
  if (shape.kind == Shape::Kind::kEllipse || shape.kind == Shape::Kind::kRing) {
    const Vec reach = shape.points[1] + Vec{margin, margin};
    return {shape.points[0] - reach, shape.points[0] + reach};
  }
  Box box{shape.points[0], shape.points[0]};
  for (const Vec p : shape.points) {
    box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y)};
    box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y)};
  }
  return {box.low - Vec{margin, margin}, box.high + Vec{margin, margin}};
}

}  // namespace crisp::data::synth
