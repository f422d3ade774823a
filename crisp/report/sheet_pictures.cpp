#include <bitset>

#include "crisp/image/heat_map.h"
#include "crisp/image/overlay.h"
#include "crisp/image/resize.h"
#include "crisp/report/contact_sheet.h"
#include "crisp/report/showcase.h"

namespace crisp::report {
namespace {

using image::Image;
using image::Mask;

// The size that photo or, without one, the map gets.
ThumbnailSize common_size(const Image& photo, const Mask& map) {
  return photo.width > 0 ? thumbnail_size(photo.width, photo.height) : thumbnail_size(map.width, map.height);
}

Image small(const Image& photo, const ThumbnailSize& size) { return image::resize(photo, size.width, size.height); }

// Smoothly, unlike labels: a map of a network's resolution is coarser than the photo.
Mask small_levels(const Mask& levels, const ThumbnailSize& size) {
  const std::vector<float> values(levels.labels.begin(), levels.labels.end());
  const std::vector<float> fitted = image::resize_map(values, levels.width, levels.height, size.width, size.height);
  return image::to_levels(fitted, size.width, size.height, 0, 255);
}

std::vector<uint8_t> labels_in(const Mask& mask) {
  std::bitset<256> present;
  for (const uint8_t label : mask.labels) present.set(label);
  std::vector<uint8_t> labels;
  for (size_t label = 1; label < 256; ++label) {
    if (present[label]) labels.push_back(static_cast<uint8_t>(label));
  }
  return labels;
}

}  // namespace

SheetPicture sheet_photo(const std::string& caption, const Image& photo) {
  return {.caption = caption, .image = small(photo, thumbnail_size(photo.width, photo.height))};
}

SheetPicture sheet_labels(const std::string& caption, const Image& photo, const Mask& labels) {
  const ThumbnailSize size = common_size(photo, labels);
  const Mask fitted = image::resize_nearest(labels, size.width, size.height);
  SheetPicture picture{.caption = caption, .photo = photo.width > 0, .labels = labels_in(fitted)};
  picture.image = picture.photo ? image::overlay(small(photo, size), fitted, {}, {.alpha = 0.62, .legend = false})
                                : image::overlay(Image(size.width, size.height), fitted, {},
                                                 {.alpha = 1, .outline = false, .legend = false});
  return picture;
}

SheetPicture sheet_activation(const std::string& caption, const Image& photo, const Mask& levels) {
  const ThumbnailSize size = common_size(photo, levels);
  const Mask fitted = small_levels(levels, size);
  SheetPicture picture{.caption = caption, .image = image::heat_map(fitted), .heat = true};
  if (photo.width == 0) return picture;
  const Image under = small(photo, size);
  for (size_t i = 0; i < fitted.labels.size(); ++i) {
    const uint8_t* rgb = under.rgb.data() + 3 * i;
    const int grey = (rgb[0] * 77 + rgb[1] * 150 + rgb[2] * 29) / 256 * 3 / 4 + 16;
    const int share = 40 + fitted.labels[i] * 5 / 8;  // of 256: the photo shows through everywhere
    uint8_t* out = picture.image.rgb.data() + 3 * i;
    for (size_t c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>((out[c] * share + grey * (256 - share)) / 256);
  }
  return picture;
}

SheetPicture sheet_levels(const std::string& caption, const Mask& levels) {
  const Mask fitted = small_levels(levels, thumbnail_size(levels.width, levels.height));
  return {.caption = caption, .image = image::heat_map(fitted), .heat = true};
}

}  // namespace crisp::report
