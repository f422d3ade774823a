#pragma once

#include <array>
#include <cstdint>

namespace crisp::image {

using Colour = std::array<uint8_t, 3>;  // red, green, blue
using Palette = std::array<Colour, 256>;

// The colours of PASCAL VOC masks: bit j of the red, green and blue of class c, counted from the top, are
// bits 3j, 3j + 1, 3j + 2 of c. All 256 differ; 255 (ignore) is the cream (224, 224, 192).
const Palette& voc_palette();

// Viridis (Smith and van der Walt, the default colour map of matplotlib), dark violet to yellow: equal
// steps in value look equally large, in grey print and to colour-blind readers too.
const Palette& viridis();

}  // namespace crisp::image
