#pragma once

#include <cmath>
#include <vector>

namespace crisp::data::synth {

// A point or direction in the plane; x to the right, y down.
struct Vec {
  double x = 0, y = 0;
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
inline Vec operator*(double s, Vec a) { return {s * a.x, s * a.y}; }
inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y; }
inline double length(Vec a) { return std::sqrt(dot(a, a)); }
inline Vec direction(double angle) { return {std::cos(angle), std::sin(angle)}; }

// An outline given by its signed distance: negative inside, zero on the edge.
struct Shape {
  enum class Kind { kEllipse, kRing, kStroke, kPolygon };
  Kind kind = Kind::kPolygon;
  std::vector<Vec> points;
  double radius = 0, radius_end = 0;
};

Shape ellipse(Vec centre, double radius_x, double radius_y);
inline Shape disc(Vec centre, double radius) { return ellipse(centre, radius, radius); }
Shape ring(Vec centre, double radius, double half_width);
// A line through the points, its half width going from one end to the other.
Shape stroke(std::vector<Vec> points, double half_width, double half_width_end);
inline Shape stroke(std::vector<Vec> points, double half_width) {
  return stroke(std::move(points), half_width, half_width);
}
Shape polygon(std::vector<Vec> corners, double rounding = 0);

// Curves to draw strokes along.
std::vector<Vec> arc(Vec centre, double radius, double from, double to, int steps);
std::vector<Vec> bend(Vec from, Vec control, Vec to, int steps);  // a quadratic curve

// The sign is exact; the size is exact but for ellipses, where it is good near the edge.
double distance(const Shape& shape, Vec p);

struct Box {
  Vec low, high;
};
Box bounds(const Shape& shape);

}  // namespace crisp::data::synth
