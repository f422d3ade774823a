#include "crisp/metric/contour.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace crisp::metric {
namespace {

constexpr size_t kReach = 3;
constexpr size_t kMinPoints = 2 * kReach + 1;

// Sides of a pixel, clockwise. Walking clockwise round the inside keeps it on the right.
enum Side : int { kTop, kRight, kBottom, kLeft };
constexpr int kStepX[4] = {0, 1, 0, -1};  // from a pixel to its neighbour across the side
constexpr int kStepY[4] = {-1, 0, 1, 0};
constexpr int turn(int side, int by) { return (side + by) & 3; }

struct Contour {
  std::vector<float> x, y;  // in half pixels: whole numbers, exact in a float below 2^24
};

// angle > 1 rad for vectors a, b, both non-zero (points of a contour are distinct), without a root:
// dot <= 0, or dot^2 < cos^2(1) |a|^2 |b|^2. Sums stay below 2^24, so only the last product rounds, and no
// pair of such short lattice vectors comes near to 1 rad.
int64_t count_sharp(Contour& contour) {
  constexpr float kCosineSquared = 0.29192658172642888F;
  const size_t count = contour.x.size();
  for (std::vector<float>* line : {&contour.x, &contour.y}) {  // go round: repeat the first points at the end
    for (size_t i = 0; i < 2 * kReach; ++i) line->push_back((*line)[i]);
  }
  const float *x = contour.x.data(), *y = contour.y.data();
  int sharp = 0;
  for (size_t i = 0; i < count; ++i) {
    const float ax = x[i + kReach] - x[i], ay = y[i + kReach] - y[i];
    const float bx = x[i + 2 * kReach] - x[i + kReach], by = y[i + 2 * kReach] - y[i + kReach];
    const float dot = ax * bx + ay * by;
    const float lengths = (ax * ax + ay * ay) * (bx * bx + by * by);
    sharp += (dot <= 0.0F) | (dot * dot < kCosineSquared * lengths);
  }
  return sharp;
}

// Label map with one pixel of "outside" around, and a mark on the top cracks already walked.
class Walker {
 public:
  explicit Walker(const image::Mask& mask)
      : stride_(mask.width + 2),
        labels_(static_cast<size_t>(stride_) * static_cast<size_t>(mask.height + 2), image::kIgnore),
        walked_(labels_.size(), 0) {
    for (int y = 0; y < mask.height; ++y) {
      const uint8_t* row = mask.row(y);
      std::copy(row, row + mask.width, labels_.data() + (y + 1) * stride_ + 1);
    }
    for (int side = 0; side < 4; ++side) step_[side] = kStepY[side] * stride_ + kStepX[side];
  }

  const uint8_t* row(int y) const { return labels_.data() + (y + 1) * stride_ + 1; }
  bool walked(int x, int y) const { return walked_[cell(x, y)] != 0; }

  // Follows the contour that holds the top crack of pixel (x, y) once round.
  void walk(int x, int y, Contour& contour) {
    contour.x.clear();
    contour.y.clear();
    const uint8_t* const first = labels_.data() + cell(x, y);
    const uint8_t* here = first;
    const uint8_t label = *first;
    int side = kTop;
    do {
      if (side == kTop) walked_[static_cast<size_t>(here - labels_.data())] = 1;
      contour.x.push_back(static_cast<float>(2 * x + kStepX[side]));
      contour.y.push_back(static_cast<float>(2 * y + kStepY[side]));
      const int ahead = turn(side, 1);
      const uint8_t* next = here + step_[ahead];
      if (*next != label) {  // the inside ends: turn round this pixel, even when the pixel past the corner is inside
        side = ahead;
      } else if (next[step_[side]] != label) {  // straight on
        here = next, x += kStepX[ahead], y += kStepY[ahead];
      } else {  // the inside bends outwards
        here = next + step_[side];
        x += kStepX[ahead] + kStepX[side], y += kStepY[ahead] + kStepY[side];
        side = turn(side, 3);
      }
    } while (here != first || side != kTop);
  }

 private:
  size_t cell(int x, int y) const { return static_cast<size_t>((y + 1) * stride_ + x + 1); }
  ptrdiff_t stride_;
  std::vector<uint8_t> labels_, walked_;
  ptrdiff_t step_[4];
};

}  // namespace

std::array<ContourTurns, 256> contour_turns(const image::Mask& mask, const std::array<bool, 256>& wanted) {
  std::array<ContourTurns, 256> turns{};
  Walker walker(mask);
  Contour contour;
  // Every closed contour has a crack on top of some inside pixel, so starting from those finds all.
  for (int y = 0; y < mask.height; ++y) {
    const uint8_t *row = walker.row(y), *above = walker.row(y - 1);
    for (int x = 0; x < mask.width; ++x) {
      if (row[x] == above[x] || !wanted[row[x]] || walker.walked(x, y)) continue;
      walker.walk(x, y, contour);
      const size_t points = contour.x.size();
      if (points < kMinPoints) continue;
      turns[row[x]].points += static_cast<int64_t>(points);
      turns[row[x]].sharp += count_sharp(contour);
    }
  }
  return turns;
}

}  // namespace crisp::metric
