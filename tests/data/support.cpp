#include "tests/data/support.h"

#include <algorithm>
#include <fstream>

#include "crisp/image/encode.h"

namespace crisp::data::test {

void put(const Path& path, const std::string& text) {
  make_folder(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;  // not write_atomic: a sync a file would take seconds
}

void put_image(const Path& path, int width, int height) {
  make_folder(path.parent_path());
  image::Image photo(width, height);
  std::fill(photo.rgb.begin(), photo.rgb.end(), uint8_t{90});
  if (lower_extension(path) == ".png") {
    image::write_rgb_png(path, photo);
  } else {
    image::write_jpeg(path, photo);
  }
}

void put_mask(const Path& path, const std::vector<uint8_t>& labels, int width, int height) {
  make_folder(path.parent_path());
  image::Mask mask(width, height);
  for (size_t i = 0; i < mask.labels.size(); ++i) mask.labels[i] = labels[i % labels.size()];
  image::write_mask_png(path, mask);
}

}  // namespace crisp::data::test
