#include "crisp/metric/boundary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "crisp/image/distance.h"
#include "crisp/metric/edge_map.h"

namespace crisp::metric {
namespace {

constexpr double kLargestDisk = 8;

// Steps to all cells within `tolerance`, nearest first: most boundary pixels match in the first few.
std::vector<ptrdiff_t> disk(double tolerance, ptrdiff_t stride) {
  const int reach = static_cast<int>(tolerance);
  struct Step {
    int64_t distance;
    ptrdiff_t offset;
  };
  std::vector<Step> steps;
  for (int y = -reach; y <= reach; ++y) {
    for (int x = -reach; x <= reach; ++x) {
      const int64_t distance = static_cast<int64_t>(x) * x + static_cast<int64_t>(y) * y;
      if (static_cast<double>(distance) <= tolerance * tolerance) steps.push_back({distance, y * stride + x});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.distance < b.distance; });
  std::vector<ptrdiff_t> offsets;
  for (const Step& step : steps) offsets.push_back(step.offset);
  return offsets;
}

// For each edge pixel of `from`: count(label, matched), matched when `to` has the label on its edge within reach.
template <typename Count>
void match_near(const EdgeMap& from, const EdgeMap& to, double tolerance, const Count& count) {
  const std::vector<ptrdiff_t> offsets = disk(tolerance, to.stride());
  from.for_each_edge([&](const uint8_t* cell) {
    const uint8_t label = *cell;
    const uint8_t* there = to.row(0) + (cell - from.row(0));  // both maps have one geometry
    count(label, std::any_of(offsets.begin(), offsets.end(), [&](ptrdiff_t offset) { return there[offset] == label; }));
  });
}

// The same by a distance transform a label: slower for a few pixels, but its time does not grow with the disk.
template <typename Count>
void match_far(const EdgeMap& from, const EdgeMap& to, double tolerance, const Count& count) {
  std::array<bool, 256> occurs{};
  from.for_each_edge([&](const uint8_t* cell) { occurs[*cell] = true; });
  image::Mask edges(to.width(), to.height());
  for (int label = 0; label < kNoEdge; ++label) {
    if (!occurs[static_cast<size_t>(label)]) continue;
    for (int y = 0; y < to.height(); ++y) {
      for (int x = 0; x < to.width(); ++x) edges.row(y)[x] = to.row(y)[x] == label;
    }
    const std::vector<int32_t> distance = image::squared_distance(edges);
    for (int y = 0; y < from.height(); ++y) {
      const int32_t* here = distance.data() + static_cast<size_t>(y) * static_cast<size_t>(from.width());
      for (int x = 0; x < from.width(); ++x) {
        if (from.row(y)[x] != label) continue;
        const bool found = here[x] != image::kFarAway;
        count(static_cast<uint8_t>(label), found && static_cast<double>(here[x]) <= tolerance * tolerance);
      }
    }
  }
}

// 1 where the square of side 2 * width + 1 around a pixel lies in the image and has one label: what `width`
// erosions leave of every class at once.
std::vector<uint8_t> eroded(const image::Mask& mask, int width) {
  const int w = mask.width, h = mask.height;
  std::vector<uint8_t> inside(mask.labels.size(), 0);
  const int need = 2 * width + 1;
  if (need > w || need > h) return inside;
  std::vector<uint8_t> flat(static_cast<size_t>(w));  // this row alone has one label around the pixel
  std::vector<int> depth(static_cast<size_t>(w), 0);  // rows upwards, this one included, that are flat with one label
  for (int y = 0; y < h; ++y) {
    const uint8_t* row = mask.row(y);
    std::fill(flat.begin(), flat.end(), uint8_t{0});
    for (int start = 0; start < w;) {
      const int end =
          static_cast<int>(std::find_if(row + start, row + w, [&](uint8_t v) { return v != row[start]; }) - row);
      if (end - start >= need) std::fill(flat.begin() + start + width, flat.begin() + end - width, uint8_t{1});
      start = end;
    }
    const uint8_t* before = y > 0 ? mask.row(y - 1) : row;
    uint8_t* out = y >= 2 * width ? inside.data() + static_cast<size_t>(y - width) * static_cast<size_t>(w) : nullptr;
    for (int x = 0; x < w; ++x) {
      const int kept = row[x] == before[x] ? depth[static_cast<size_t>(x)] : 0;
      depth[static_cast<size_t>(x)] = flat[static_cast<size_t>(x)] != 0 ? kept + 1 : 0;
    }
    if (out == nullptr) continue;
    for (int x = 0; x < w; ++x) out[x] = depth[static_cast<size_t>(x)] >= need;
  }
  return inside;
}

}  // namespace

double BoundaryMatch::f1() const {
  if (truth == 0 && predicted == 0) return 1;
  if (truth_matched == 0 || predicted_matched == 0) return 0;
  const double recall = static_cast<double>(truth_matched) / static_cast<double>(truth);
  const double precision = static_cast<double>(predicted_matched) / static_cast<double>(predicted);
  return 2 * precision * recall / (precision + recall);
}

std::array<BoundaryMatch, 256> match_boundaries(const image::Mask& truth, const image::Mask& prediction,
                                                double tolerance) {
  std::array<BoundaryMatch, 256> matches{};
  const auto count_truth = [&](uint8_t label, bool matched) {
    ++matches[label].truth;
    matches[label].truth_matched += matched;
  };
  const auto count_predicted = [&](uint8_t label, bool matched) {
    ++matches[label].predicted;
    matches[label].predicted_matched += matched;
  };
  const bool near = tolerance <= kLargestDisk;
  const int margin = near ? static_cast<int>(tolerance) : 0;
  const EdgeMap truth_edges(truth, false, margin), predicted_edges(prediction, false, margin);
  if (near) {
    match_near(truth_edges, predicted_edges, tolerance, count_truth);
    match_near(predicted_edges, truth_edges, tolerance, count_predicted);
  } else {
    match_far(truth_edges, predicted_edges, tolerance, count_truth);
    match_far(predicted_edges, truth_edges, tolerance, count_predicted);
  }
  return matches;
}

std::array<BandOverlap, 256> overlap_bands(const image::Mask& truth, const image::Mask& filled,
                                           const image::Mask& prediction, int ignore, int width) {
  const std::vector<uint8_t> truth_inside = eroded(filled, width), predicted_inside = eroded(prediction, width);
  std::array<BandOverlap, 256> overlaps{};
  for (size_t i = 0; i < truth.labels.size(); ++i) {
    if (truth_inside[i] & predicted_inside[i]) continue;
    const uint8_t t = truth.labels[i], p = prediction.labels[i];
    if (t == ignore) continue;
    const bool in_truth = !truth_inside[i], in_prediction = !predicted_inside[i];
    if (in_truth) ++overlaps[t].either;
    if (in_prediction && (p != t || !in_truth)) ++overlaps[p].either;
    if (in_truth && in_prediction && p == t) ++overlaps[t].common;
  }
  return overlaps;
}

int band_width(int width, int height, double fraction) {
  // Half to even, as the reference implementation's round.
  return std::max(1,
                  static_cast<int>(std::nearbyint(fraction * std::sqrt(1.0 * width * width + 1.0 * height * height))));
}

}  // namespace crisp::metric
