#include "crisp/data/rasterise.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "crisp/base/error.h"

namespace crisp::data {
namespace {

constexpr int kFiner = 5;                     // grid cells a pixel
constexpr size_t kLongestPath = 100'000'000;  // a broken file must not eat the memory

struct Cell {
  int x, y;
};

// Truncation, not floor: cells of negative coordinates round towards zero, as COCO's rule has it.
int to_grid(double pixels) { return static_cast<int>(kFiner * pixels + 0.5); }

// The cells from one vertex to the next, both ends included, walked in the same way whichever end comes
// first, so that two polygons sharing an edge agree on it.
void walk_edge(Cell from, Cell to, std::vector<Cell>& path) {
  const int dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
  const bool flat = dx >= dy;
  const bool flip = flat ? from.x > to.x : from.y > to.y;
  if (flip) std::swap(from, to);
  const int steps = flat ? dx : dy;
  const double slope = steps == 0 ? 0.0 : static_cast<double>(flat ? to.y - from.y : to.x - from.x) / steps;
  for (int i = 0; i <= steps; ++i) {
    const int t = flip ? steps - i : i;
    if (flat) {
      path.push_back({from.x + t, static_cast<int>(from.y + slope * t + 0.5)});
    } else {
      path.push_back({static_cast<int>(from.x + slope * t + 0.5), from.y + t});
    }
  }
}

// Grid cell to pixels, of the cell's middle.
double to_pixels(int cell) { return (cell + 0.5) / kFiner - 0.5; }

// Pixels in the union of the parts.
int64_t region_area(const Region& region, int width, int height) {
  if (region.parts.size() == 1) return runs_area(region.parts[0]);
  image::Mask united(width, height);
  for (const Runs& part : region.parts) paint_runs(part, 1, united);
  return std::count(united.labels.begin(), united.labels.end(), 1);
}

}  // namespace

Runs polygon_runs(std::span<const double> xy, int width, int height) {
  const size_t corners = xy.size() / 2;
  const auto vertex = [&](size_t i) {
    return Cell{to_grid(xy[2 * (i % corners)]), to_grid(xy[2 * (i % corners) + 1])};
  };
  size_t length = 0;
  for (size_t i = 0; i < corners; ++i) {
    const Cell from = vertex(i), to = vertex(i + 1);
    length += static_cast<size_t>(std::max(std::abs(to.x - from.x), std::abs(to.y - from.y))) + 1;
  }
  if (length > kLongestPath) throw Error("a polygon of {} points is far too long for the image", corners);
  std::vector<Cell> path;
  path.reserve(length);
  for (size_t i = 0; i < corners; ++i) walk_edge(vertex(i), vertex(i + 1), path);
  // Where the path crosses the middle of a pixel column, the column switches between outside and inside.
  std::vector<uint32_t> switches;
  for (size_t i = 1; i < path.size(); ++i) {
    if (path[i].x == path[i - 1].x) continue;
    const double x = to_pixels(path[i].x < path[i - 1].x ? path[i].x : path[i].x - 1);
    if (std::floor(x) != x || x < 0 || x > width - 1) continue;
    const double y = std::ceil(std::clamp(to_pixels(std::min(path[i].y, path[i - 1].y)), 0.0, double(height)));
    switches.push_back(static_cast<uint32_t>(x) * static_cast<uint32_t>(height) + static_cast<uint32_t>(y));
  }
  switches.push_back(static_cast<uint32_t>(width) * static_cast<uint32_t>(height));
  std::sort(switches.begin(), switches.end());
  Runs runs;
  uint32_t before = 0;
  for (size_t i = 0; i < switches.size(); ++i) {
    const uint32_t run = switches[i] - before;
    before = switches[i];
    if (run > 0 || i == 0) {
      runs.push_back(run);
    } else if (i + 1 < switches.size()) {  // two switches at one place cancel: the run goes on
      ++i;
      runs.back() += switches[i] - before;
      before = switches[i];
    }
  }
  return runs;
}

Runs decode_runs(std::string_view text) {
  Runs runs;
  for (size_t at = 0; at < text.size();) {
    int64_t value = 0;
    for (int shift = 0;; shift += 5) {
      if (at == text.size()) throw Error("the compressed run lengths end in the middle of a number");
      const int bits = text[at++] - '0';
      if (bits < 0 || bits > 63 || shift > 35) throw Error("character {} is not of compressed run lengths", at);
      value |= static_cast<int64_t>(bits & 31) << shift;
      if ((bits & 32) != 0) continue;
      if ((bits & 16) != 0) value |= -(int64_t{1} << (shift + 5));  // the sign
      break;
    }
    if (runs.size() > 2) value += runs[runs.size() - 2];
    if (value < 0 || value > UINT32_MAX) throw Error("run length {} at character {} is out of range", value, at);
    runs.push_back(static_cast<uint32_t>(value));
  }
  return runs;
}

void check_runs(std::span<const uint32_t> runs, int width, int height) {
  const uint64_t sum = std::accumulate(runs.begin(), runs.end(), uint64_t{0});
  const uint64_t pixels = static_cast<uint64_t>(width) * static_cast<uint64_t>(height);
  if (sum != pixels) throw Error("run lengths cover {} pixels, the image has {} ({}x{})", sum, pixels, width, height);
}

void paint_runs(std::span<const uint32_t> runs, uint8_t label, image::Mask& mask) {
  const auto height = static_cast<size_t>(mask.height), width = static_cast<size_t>(mask.width);
  size_t at = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t end = at + runs[i];
    if (i % 2 == 0) {
      at = end;
      continue;
    }
    size_t x = at / height, y = at % height;
    for (; at < end; ++at) {
      mask.labels[y * width + x] = label;
      if (++y == height) {
        y = 0;
        ++x;
      }
    }
  }
}

int64_t runs_area(std::span<const uint32_t> runs) {
  int64_t area = 0;
  for (size_t i = 1; i < runs.size(); i += 2) area += runs[i];
  return area;
}

image::Mask semantic_mask(std::span<const Region> regions, int width, int height, const RasteriseOptions& options) {
  struct Layer {
    const Region* region;
    int64_t area;
  };
  std::vector<Layer> layers;
  for (const Region& region : regions) {
    layers.push_back({&region, region_area(region, width, height)});
  }
  std::stable_sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
    if (a.region->crowd != b.region->crowd) return a.region->crowd;
    return options.overlap == Overlap::kSmallerOnTop && a.area > b.area;
  });
  image::Mask mask(width, height);
  for (const Layer& layer : layers) {
    const bool ignored = layer.region->crowd && options.crowd == Crowd::kIgnore;
    for (const Runs& part : layer.region->parts) {
      paint_runs(part, ignored ? image::kIgnore : layer.region->label, mask);
    }
  }
  return mask;
}

}  // namespace crisp::data
