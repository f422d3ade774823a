#pragma once

#include "crisp/base/classes.h"
#include "crisp/image/image.h"
#include "crisp/image/palette.h"

namespace crisp::image {

struct OverlayOptions {
  double alpha = 0.5;   // how much of the class colour covers the photo, 0 to 1
  bool outline = true;  // a bright line along the inner edge of each region, ignored ones excepted
  bool legend = true;   // a strip below the photo naming the classes present
  Palette palette = voc_palette();
};

// The photo with its classes in colour; background stays as it is. Photo and mask must be of one size. The
// result is as large as the photo, plus the legend's strip.
Image overlay(const Image& photo, const Mask& mask, const ClassNames& names, const OverlayOptions& options = {});

}  // namespace crisp::image
