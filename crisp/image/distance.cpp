#include "crisp/image/distance.h"

#include <algorithm>
#include <cstddef>

#include "crisp/base/error.h"

namespace crisp::image {
namespace {

constexpr int32_t kNoneInColumn = 1 << 30;  // more than any height, and room to count on from there
constexpr int kLongestSide = 1 << 26;       // its square, twice and with a label's byte, fits 64 bits

void check_sides(const Mask& mask) {
  if (std::max(mask.width, mask.height) <= kLongestSide) return;
  throw Error("a mask of {} x {} pixels is too long for distances: at most {}", mask.width, mask.height, kLongestSide);
}

// Along each column, the distance to the nearest feature and the label found there (the smaller one
// when a feature above and one below are equally near). Goes row by row so that it vectorises.
struct ColumnDistances {
  int width, height;
  std::vector<int32_t> distance;
  std::vector<uint8_t> label;

  template <typename IsFeature>
  ColumnDistances(const Mask& mask, IsFeature is_feature)
      : width(mask.width), height(mask.height), distance(mask.labels.size()), label(mask.labels) {
    for (size_t i = 0; i < distance.size(); ++i) distance[i] = is_feature(mask.labels[i]) ? 0 : kNoneInColumn;
    for (int y = 1; y < height; ++y) take_over(y, y - 1);
    for (int y = height - 2; y >= 0; --y) take_over(y, y + 1);
  }

  size_t at(int y) const { return static_cast<size_t>(y) * static_cast<size_t>(width); }

 private:
  void take_over(int y, int from) {
    int32_t* here = distance.data() + at(y);
    const int32_t* there = distance.data() + at(from);
    uint8_t* label_here = label.data() + at(y);
    const uint8_t* label_there = label.data() + at(from);
    for (int x = 0; x < width; ++x) {
      const int32_t step = there[x] + 1;
      const uint8_t smaller = std::min(label_here[x], label_there[x]);
      label_here[x] = step < here[x] ? label_there[x] : step == here[x] ? smaller : label_here[x];
      here[x] = std::min(here[x], step);
    }
  }
};

// A column whose parabola (x - column)^2 + distance^2 is the lowest from `start` to the next one's start.
// Its label rides along as the lowest byte, so that one comparison orders by distance, then by label.
struct Parabola {
  int64_t column, height, start;

  Parabola(int64_t x, int64_t distance, uint8_t label)
      : column(x), height(distance * distance << 8 | label), start(0) {}
  Parabola() = default;
  int64_t value(int64_t x) const { return ((x - column) * (x - column) << 8) + height; }
  int64_t squared_distance(int64_t x) const { return value(x) >> 8; }
  uint8_t label() const { return static_cast<uint8_t>(height & 0xFF); }

  // The pixel from which on `right` is lower. left.value(x) - right.value(x) grows by 512 a pixel for each
  // column between them, so that it stays lower. The caller knows that at some pixel it is not.
  static int64_t takeover(const Parabola& left, const Parabola& right) {
    return (right.value(0) - left.value(0)) / (512 * (right.column - left.column)) + 1;
  }
};

// The lower envelope of each row in turn. For any two columns the lower one changes once, from the left to
// the right one, and ties are broken by a total order; so a stack finds it exactly.
class Envelope {
 public:
  explicit Envelope(int width) : width_(width), stack_(static_cast<size_t>(width) + 1) {}

  void build(const int32_t* distance, const uint8_t* label) {
    Parabola* const bottom = stack_.data();  // never used: the stack is empty when its top is there
    Parabola* top = bottom;
    for (int x = 0; x < width_; ++x) {
      if (distance[x] >= kNoneInColumn) continue;
      Parabola next(x, distance[x], label[x]);
      while (top != bottom && next.value(top->start) < top->value(top->start)) --top;
      if (top != bottom) next.start = Parabola::takeover(*top, next);
      if (next.start < width_) *++top = next;
    }
    count_ = static_cast<size_t>(top - bottom);
  }

  // Calls use(parabola, begin, end) for each stretch of the row; for none when no column has a feature.
  template <typename Use>
  void for_stretches(Use use) const {
    for (size_t k = 1; k <= count_; ++k) use(stack_[k], stack_[k].start, k < count_ ? stack_[k + 1].start : width_);
  }

 private:
  int width_;
  size_t count_ = 0;
  std::vector<Parabola> stack_;
};

}  // namespace

std::vector<int32_t> squared_distance(const Mask& features) {
  check_sides(features);
  const ColumnDistances columns(features, [](uint8_t value) { return value != 0; });
  Envelope envelope(features.width);
  std::vector<int32_t> result(features.labels.size(), kFarAway);
  for (int y = 0; y < features.height; ++y) {
    const size_t row = columns.at(y);
    envelope.build(columns.distance.data() + row, columns.label.data() + row);
    envelope.for_stretches([&](const Parabola& parabola, int64_t begin, int64_t end) {
      for (int64_t x = begin; x < end; ++x) {
        const int64_t squared = std::min<int64_t>(parabola.squared_distance(x), kFarAway);
        result[row + static_cast<size_t>(x)] = static_cast<int32_t>(squared);
      }
    });
  }
  return result;
}

Mask fill_void(const Mask& mask, uint8_t ignore) {
  check_sides(mask);
  const ColumnDistances columns(mask, [ignore](uint8_t value) { return value != ignore; });
  Envelope envelope(mask.width);
  Mask filled = mask;
  for (int y = 0; y < mask.height; ++y) {
    uint8_t* labels = filled.row(y);
    if (std::find(labels, labels + mask.width, ignore) == labels + mask.width) continue;
    const size_t row = columns.at(y);
    envelope.build(columns.distance.data() + row, columns.label.data() + row);
    envelope.for_stretches([&](const Parabola& parabola, int64_t begin, int64_t end) {
      std::fill(labels + begin, labels + end, parabola.label());
    });
  }
  return filled;
}

}  // namespace crisp::image
