#include "crisp/image/font.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "crisp/image/glyphs.h"

namespace crisp::image {
namespace {

constexpr int kDrawnPerSize = 2;  // the glyphs are drawn at size 2
constexpr int kInkLevels = 7;

// The letters without accents of U+00C0 to U+017F, in Unicode's order.
constexpr char32_t kFirstAccented = 0xC0;
constexpr std::string_view kPlainLetters =
    "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLl"
    "LlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
static_assert(kPlainLetters.size() == 0x180 - kFirstAccented);

bool is_combining_accent(char32_t code) { return code >= 0x300 && code < 0x370; }

char32_t next_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  char32_t code = more == 0 ? U'?' : lead & (0x3Fu >> more);
  for (int i = 0; i < more && !text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text.front()) & 0x3Fu);
    text.remove_prefix(1);
  }
  return code;
}

const Glyph& glyph_of(char32_t code) {
  if (code >= kFirstAccented && code < kFirstAccented + kPlainLetters.size()) {
    code = static_cast<char32_t>(kPlainLetters[code - kFirstAccented]);
  }
  const bool known = code >= U' ' && code < U' ' + std::size(kGlyphs);
  return kGlyphs[(known ? code : U'?') - U' '];
}

// Calls draw(glyph, pen) for each letter, the pen in pixels of the drawn size; returns where the pen ends.
template <typename Draw>
int lay_out(std::string_view text, Draw draw) {
  int pen = 0;
  while (!text.empty()) {
    const char32_t code = next_code_point(text);
    if (is_combining_accent(code)) continue;
    const Glyph& glyph = glyph_of(code);
    draw(glyph, pen);
    pen += glyph.advance;
  }
  return pen;
}

double ink_at(const Glyph& glyph, int x, int y) {
  const int index = y * glyph.width + x;
  const int pair = kGlyphPixels[static_cast<size_t>(glyph.pixels + index / 2)] - '0';
  return (index % 2 == 0 ? pair / 8 : pair % 8) / static_cast<double>(kInkLevels);
}

// Mean ink over the box [x0, x1) x [y0, y1) of the drawn glyph, parts of pixels counted by their share.
double mean_ink(const Glyph& glyph, double x0, double x1, double y0, double y1) {
  double ink = 0;
  for (int y = std::max(static_cast<int>(y0), 0); y < std::min<double>(glyph.height, y1); ++y) {
    const double tall = std::min(y1, y + 1.0) - std::max(y0, static_cast<double>(y));
    for (int x = std::max(static_cast<int>(x0), 0); x < std::min<double>(glyph.width, x1); ++x) {
      ink += ink_at(glyph, x, y) * tall * (std::min(x1, x + 1.0) - std::max(x0, static_cast<double>(x)));
    }
  }
  return ink / ((x1 - x0) * (y1 - y0));
}

}  // namespace

int text_width(std::string_view text, int size) {
  const int drawn = lay_out(text, [](const Glyph&, int) {});
  return (drawn * size + kDrawnPerSize - 1) / kDrawnPerSize;
}

void draw_text(Image& image, int x, int y, std::string_view text, int size, const Colour& colour) {
  const double step = static_cast<double>(kDrawnPerSize) / size;  // drawn pixels a new one covers
  lay_out(text, [&](const Glyph& glyph, int pen) {
    const int left = x + (pen + glyph.left) * size / kDrawnPerSize, top = y + glyph.top * size / kDrawnPerSize;
    const int width = (glyph.width * size + 1) / kDrawnPerSize, height = (glyph.height * size + 1) / kDrawnPerSize;
    for (int v = std::max(0, -top); v < height && top + v < image.height; ++v) {
      for (int u = std::max(0, -left); u < width && left + u < image.width; ++u) {
        const double ink = mean_ink(glyph, u * step, (u + 1) * step, v * step, (v + 1) * step);
        uint8_t* pixel = image.row(top + v) + static_cast<ptrdiff_t>(left + u) * 3;
        for (size_t c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(pixel[c] + ink * (colour[c] - pixel[c]) + 0.5);
      }
    }
  });
}

}  // namespace crisp::image
