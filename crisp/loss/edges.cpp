#include "crisp/loss/edges.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/image/distance.h"

namespace crisp::loss {
namespace {

constexpr uint8_t kEdge = 1, kUnknown = 2;  // bits: at an edge, next to a pixel labelled 255

// What the line between two neighbours is. Written without branches, so that rows of it vectorise.
uint8_t between(uint8_t a, uint8_t b) {
  const auto differ = static_cast<uint8_t>(a != b);
  const auto unknown = static_cast<uint8_t>((a == image::kIgnore) | (b == image::kIgnore));
  return static_cast<uint8_t>(differ + (differ & unknown));  // kEdge, or kUnknown
}

// For each pixel the bits of the lines around it.
image::Mask edge_bits(const image::Mask& labels) {
  image::Mask bits(labels.width, labels.height);
  const int width = labels.width;
  for (int y = 0; y < labels.height; ++y) {
    const uint8_t* here = labels.row(y);
    const uint8_t* above = labels.row(std::max(y - 1, 0));  // a pixel has no edge with itself
    const uint8_t* below = labels.row(std::min(y + 1, labels.height - 1));
    uint8_t* out = bits.row(y);
    for (int x = 0; x < width; ++x) {
      out[x] = static_cast<uint8_t>(between(here[x], above[x]) | between(here[x], below[x]));
    }
    for (int x = 1; x < width; ++x) out[x] = static_cast<uint8_t>(out[x] | between(here[x], here[x - 1]));
    for (int x = 0; x + 1 < width; ++x) out[x] = static_cast<uint8_t>(out[x] | between(here[x], here[x + 1]));
  }
  return bits;
}

// Each pixel gets the bits of its 4-neighbours too.
image::Mask grown(const image::Mask& bits) {
  image::Mask result(bits.width, bits.height);
  for (int y = 0; y < bits.height; ++y) {
    const uint8_t* here = bits.row(y);
    const uint8_t* above = bits.row(std::max(y - 1, 0));
    const uint8_t* below = bits.row(std::min(y + 1, bits.height - 1));
    uint8_t* out = result.row(y);
    for (int x = 0; x < bits.width; ++x) out[x] = static_cast<uint8_t>(here[x] | above[x] | below[x]);
    for (int x = 1; x < bits.width; ++x) out[x] = static_cast<uint8_t>(out[x] | here[x - 1]);
    for (int x = 0; x + 1 < bits.width; ++x) out[x] = static_cast<uint8_t>(out[x] | here[x + 1]);
  }
  return result;
}

}  // namespace

image::Mask boundary_band(const image::Mask& labels, int width) {
  if (width != 2 && width != 3) throw UsageError("the boundary band is 2 or 3 pixels wide, not {}", width);
  image::Mask band = edge_bits(labels);
  // The pixels at most 1.5 from the line between two pixels are those two and their 4-neighbours.
  if (width == 3) band = grown(band);
  for (size_t i = 0; i < band.labels.size(); ++i) {
    const bool hidden = (band.labels[i] & kUnknown) != 0 || labels.labels[i] == image::kIgnore;
    band.labels[i] = hidden ? image::kIgnore : band.labels[i];
  }
  return band;
}

std::vector<float> edge_distance(const image::Mask& labels, int limit) {
  if (limit < 1) throw UsageError("distances to an edge are clipped at 1 pixel or more, not {}", limit);
  image::Mask edges = edge_bits(labels);
  for (uint8_t& bits : edges.labels) bits = bits & kEdge;
  const std::vector<int32_t> squared = image::squared_distance(edges);
  std::vector<float> distance(squared.size());
  const auto longest = static_cast<float>(limit);
  for (size_t i = 0; i < squared.size(); ++i) {
    distance[i] = std::min(std::sqrt(static_cast<float>(squared[i])), longest) / longest;
  }
  return distance;
}

}  // namespace crisp::loss
