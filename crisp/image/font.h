#pragma once

#include <string_view>

#include "crisp/image/image.h"
#include "crisp/image/palette.h"

namespace crisp::image {

// Text for legends in one built-in face (Aileron by Sora Sagano, CC0), smoothed. `size` is a whole number
// from 1 on; a line is kLineHeight * size pixels high. Latin letters with accents lose them, what is
// neither is shown as '?'; names are UTF-8.
constexpr int kLineHeight = 18;

int text_width(std::string_view text, int size);

// Draws with the upper left corner of the line at (x, y); what falls outside the image is left out.
void draw_text(Image& image, int x, int y, std::string_view text, int size, const Colour& colour);

}  // namespace crisp::image
