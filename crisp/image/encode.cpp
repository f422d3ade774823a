#include "crisp/image/encode.h"

namespace crisp::image {

void write_mask_png(const Path& path, const Mask& mask, const Palette& palette) {
  write_atomic(path, encode_mask_png(mask, palette), Durable::kNo);
}

void write_grey_png(const Path& path, const Mask& map) { write_atomic(path, encode_grey_png(map), Durable::kNo); }

void write_rgb_png(const Path& path, const Image& image) { write_atomic(path, encode_rgb_png(image), Durable::kNo); }

void write_jpeg(const Path& path, const Image& image, int quality) {
  write_atomic(path, encode_jpeg(image, quality), Durable::kNo);
}

}  // namespace crisp::image
