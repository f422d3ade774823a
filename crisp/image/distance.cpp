#include "crisp/image/distance.h"

#include <algorithm>
#include <cstddef>

namespace crisp::image {
namespace {

constexpr int32_t kNoneInColumn = 1 << 30;  // more than any height, and room to count on from there

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

// A column whose parabola (x - column)^2 + height2 is the lowest from `start` to the next one's start.
struct Parabola {
  int64_t column, height2, start;
  uint8_t label;

  int64_t value(int64_t x) const { return (x - column) * (x - column) + height2; }
};

// From the pixel this returns on, `right` is nearer than `left` (or as near with a smaller label).
// right.value(x) - left.value(x) falls by 2 (right.column - left.column) a pixel, so it is so for good.
int64_t takeover(const Parabola& left, const Parabola& right) {
  const int64_t slope = 2 * (right.column - left.column);
  const int64_t lead = right.column * right.column + right.height2 - left.column * left.column - left.height2;
  const int64_t needed = lead + (right.label < left.label ? 0 : 1);
  return needed <= 0 ? 0 : (needed + slope - 1) / slope;
}

bool preferred(const Parabola& right, const Parabola& left, int64_t x) {
  const int64_t a = right.value(x), b = left.value(x);
  return a < b || (a == b && right.label < left.label);
}

// The lower envelope of a row. Preference (nearer, then smaller label) is a total order at each pixel and
// for any two columns changes once, from the left to the right one; so a stack finds it exactly.
void lower_envelope(const int32_t* distance, const uint8_t* label, int width, std::vector<Parabola>& envelope) {
  envelope.clear();
  for (int x = 0; x < width; ++x) {
    if (distance[x] >= kNoneInColumn) continue;
    Parabola next{x, static_cast<int64_t>(distance[x]) * distance[x], 0, label[x]};
    while (!envelope.empty() && preferred(next, envelope.back(), envelope.back().start)) envelope.pop_back();
    if (!envelope.empty()) next.start = takeover(envelope.back(), next);
    if (next.start < width) envelope.push_back(next);
  }
}

}  // namespace

std::vector<int32_t> squared_distance(const Mask& features) {
  ColumnDistances columns(features, [](uint8_t value) { return value != 0; });
  std::vector<Parabola> envelope;
  std::vector<int32_t> result(features.labels.size(), kFarAway);
  for (int y = 0; y < features.height; ++y) {
    const size_t row = columns.at(y);
    lower_envelope(columns.distance.data() + row, columns.label.data() + row, columns.width, envelope);
    for (size_t k = 0; k < envelope.size(); ++k) {
      const int64_t end = k + 1 < envelope.size() ? envelope[k + 1].start : features.width;
      for (int64_t x = envelope[k].start; x < end; ++x) {
        const int64_t value = std::min<int64_t>(envelope[k].value(x), kFarAway);
        result[row + static_cast<size_t>(x)] = static_cast<int32_t>(value);
      }
    }
  }
  return result;
}

Mask fill_void(const Mask& mask, uint8_t ignore) {
  const ColumnDistances columns(mask, [ignore](uint8_t value) { return value != ignore; });
  std::vector<Parabola> envelope;
  Mask filled = mask;
  for (int y = 0; y < mask.height; ++y) {
    uint8_t* labels = filled.row(y);
    if (std::find(labels, labels + mask.width, ignore) == labels + mask.width) continue;
    const size_t row = columns.at(y);
    lower_envelope(columns.distance.data() + row, columns.label.data() + row, columns.width, envelope);
    for (size_t k = 0; k < envelope.size(); ++k) {
      const int64_t end = k + 1 < envelope.size() ? envelope[k + 1].start : mask.width;
      for (int64_t x = envelope[k].start; x < end; ++x) labels[x] = envelope[k].label;
    }
  }
  return filled;
}

}  // namespace crisp::image
