#include "crisp/metric/small_objects.h"

#include <cstring>
#include <vector>

namespace crisp::metric {
namespace {

// A stretch of one label in a row, and a node of the union-find forest of components.
struct Run {
  int begin = 0, end = 0;
  uint8_t label = 0;
  size_t parent = 0;
  int64_t pixels = 0, hit = 0;  // of the whole component, at its root
};

size_t root(std::vector<Run>& runs, size_t i) {
  while (runs[i].parent != i) i = runs[i].parent = runs[runs[i].parent].parent;
  return i;
}

// Appends the runs of objects in one row.
void append_runs(const uint8_t* truth, const uint8_t* prediction, int width, int ignore, std::vector<Run>& runs) {
  for (int x = 0; x < width;) {
    uint64_t eight = 1;
    if (x + 8 <= width) std::memcpy(&eight, truth + x, 8);
    if (eight == 0) {  // background is most of most masks
      x += 8;
      continue;
    }
    const uint8_t label = truth[x];
    if (label == 0 || label == ignore) {
      ++x;
      continue;
    }
    Run run{x, x, label, runs.size(), 0, 0};
    for (; x < width && truth[x] == label; ++x) run.hit += prediction[x] == label;
    run.end = x;
    run.pixels = run.end - run.begin;
    runs.push_back(run);
  }
}

}  // namespace

SmallObjects find_small_objects(const image::Mask& truth, const image::Mask& prediction, int ignore, int pixels) {
  std::vector<Run> runs;
  size_t above = 0;  // first run of the row above
  for (int y = 0; y < truth.height; ++y) {
    const size_t first = runs.size();
    append_runs(truth.row(y), prediction.row(y), truth.width, ignore, runs);
    // Both rows are in order: a run touches those of the row above that end at its begin or later.
    for (size_t i = first, j = above; i < runs.size(); ++i) {
      while (j < first && runs[j].end < runs[i].begin) ++j;
      for (size_t k = j; k < first && runs[k].begin <= runs[i].end; ++k) {
        if (runs[k].label != runs[i].label) continue;
        const size_t a = root(runs, i), b = root(runs, k);
        if (a == b) continue;
        runs[a].parent = b;
        runs[b].pixels += runs[a].pixels;
        runs[b].hit += runs[a].hit;
      }
    }
    above = first;
  }
  SmallObjects objects;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].parent != i || runs[i].pixels >= pixels) continue;
    ++objects.total;
    objects.found += 2 * runs[i].hit >= runs[i].pixels;
  }
  return objects;
}

}  // namespace crisp::metric
