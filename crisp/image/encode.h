#pragma once

#include <string>

#include "crisp/base/files.h"
#include "crisp/image/image.h"
#include "crisp/image/palette.h"

namespace crisp::image {

// Files appear whole or not at all (AtomicFile); the error names the path and the system's reason.
// An image without pixels is an Error.

// An 8-bit palette PNG of all 256 colours. The indices are the labels, whatever the palette.
void write_mask_png(const Path& path, const Mask& mask, const Palette& palette = voc_palette());
// Values as grey levels: uncertainty and boundary maps.
void write_grey_png(const Path& path, const Mask& map);
void write_rgb_png(const Path& path, const Image& image);
// Quality 1 to 100. From 90 on colour is kept at full resolution, so that outlines stay sharp.
void write_jpeg(const Path& path, const Image& image, int quality = 90);

// The same as bytes, for pages that carry their pictures inside.
std::string encode_mask_png(const Mask& mask, const Palette& palette = voc_palette());
std::string encode_grey_png(const Mask& map);
std::string encode_rgb_png(const Image& image);
std::string encode_jpeg(const Image& image, int quality = 90);

}  // namespace crisp::image
