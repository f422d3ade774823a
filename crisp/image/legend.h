#pragma once

#include <string>
#include <vector>

#include "crisp/image/image.h"
#include "crisp/image/palette.h"

namespace crisp::image {

struct LegendEntry {
  std::string name;
  Colour colour;
};

// The picture with a white strip below that names the entries, each beside a swatch of its colour, in as
// many lines as the width asks for. A picture narrower than the longest name is widened with white.
// Letters and swatches grow with the picture.
Image with_legend(const Image& image, const std::vector<LegendEntry>& entries);

// How large text and lines are to be on a picture: 1 at 500 x 375, 2 at 1000 x 750, ...
int drawing_size(int width, int height);

}  // namespace crisp::image
