#pragma once

#include <array>

#include "crisp/image/image.h"

namespace crisp::image {

// A linear map of colours: out = matrix * rgb + offset, clamped to 0..255. Brightness, contrast, saturation, hue
// and greyscale are all of this kind, so a whole chain of them costs one pass over the pixels.
struct ColourMatrix {
  std::array<std::array<float, 3>, 3> matrix{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  std::array<float, 3> offset{0, 0, 0};

  // This map after `first`.
  ColourMatrix after(const ColourMatrix& first) const;
};

ColourMatrix brightness(float factor);
// Around `pivot`, the image's mean luma.
ColourMatrix contrast(float factor, float pivot);
// Towards or away from each pixel's luma; 0 gives grey.
ColourMatrix saturation(float factor);
// Turns the chroma plane (YIQ) by a share of the full circle, -0.5..0.5.
ColourMatrix hue(float turn);

void apply(const ColourMatrix& map, Image& image);

// Mean of 0.299 R + 0.587 G + 0.114 B.
float mean_luma(const Image& image);

// Gaussian blur, cut at three deviations, edges repeated. Does nothing below a deviation of 0.1 pixels.
void blur(Image& image, float deviation);

}  // namespace crisp::image
