#include "crisp/image/legend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "crisp/image/font.h"

namespace crisp::image {
namespace {

constexpr Colour kWhite{255, 255, 255}, kInk{32, 32, 32};

// Lengths at size 1, in pixels.
constexpr int kMargin = 8, kSwatch = 12, kGap = 6, kBetween = 16, kLine = 22;
constexpr int kSwatchTop = 3;  // from the top of the line of text, so that it sits on the baseline

struct Place {
  int x, line;
};

void fill_box(Image& image, int x0, int y0, int width, int height, const Colour& colour) {
  for (int y = y0; y < y0 + height; ++y) {
    uint8_t* pixel = image.row(y) + static_cast<ptrdiff_t>(x0) * 3;
    for (int x = 0; x < width; ++x, pixel += 3) std::copy(colour.begin(), colour.end(), pixel);
  }
}

// A swatch with an edge of half its brightness, which keeps pale ones visible on white.
void draw_swatch(Image& image, int x, int y, int size, const Colour& colour) {
  Colour edge;
  for (size_t c = 0; c < 3; ++c) edge[c] = static_cast<uint8_t>(colour[c] / 2);
  fill_box(image, x, y, kSwatch * size, kSwatch * size, edge);
  fill_box(image, x + size, y + size, (kSwatch - 2) * size, (kSwatch - 2) * size, colour);
}

}  // namespace

int drawing_size(int width, int height) {
  const double side = std::sqrt(static_cast<double>(width) * height);
  return std::max(1, static_cast<int>(std::lround(side / 450)));
}

Image with_legend(const Image& image, const std::vector<LegendEntry>& entries) {
  if (entries.empty()) return image;
  const int size = drawing_size(image.width, image.height);
  const int margin = kMargin * size, lead = (kSwatch + kGap) * size;
  int width = image.width;
  std::vector<int> lengths;
  for (const LegendEntry& entry : entries) {
    lengths.push_back(lead + text_width(entry.name, size));
    width = std::max(width, lengths.back() + 2 * margin);
  }
  std::vector<Place> places;
  Place next{margin, 0};
  for (const int length : lengths) {
    if (next.x > margin && next.x + length > width - margin) next = {margin, next.line + 1};
    places.push_back(next);
    next.x += length + kBetween * size;
  }

  Image result(width, image.height + (next.line + 1) * kLine * size + margin);
  std::fill(result.rgb.begin(), result.rgb.end(), kWhite[0]);
  for (int y = 0; y < image.height; ++y) {
    std::memcpy(result.row(y), image.row(y), static_cast<size_t>(image.width) * 3);
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    const int y = image.height + margin / 2 + (kLine - kLineHeight) * size / 2 + places[i].line * kLine * size;
    draw_swatch(result, places[i].x, y + kSwatchTop * size, size, entries[i].colour);
    draw_text(result, places[i].x + lead, y, entries[i].name, size, kInk);
  }
  return result;
}

}  // namespace crisp::image
