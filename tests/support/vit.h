#pragma once

#include <gtest/gtest.h>

#include "crisp/feature/store.h"
#include "crisp/image/encode.h"
#include "tests/support/tensors.h"

namespace crisp::test {

// The tiny DINOv2 of the goldens, frozen.
inline std::shared_ptr<model::FrozenVit> tiny_vit() {
  return model::load_frozen_vit(golden("goldens/model/dinov2.safetensors"), torch::kFloat);
}

inline model::VitView tiny_view() { return {.blocks = {2, 4}, .side = 56, .patch = 14}; }

// A photo of two plain colours, side by side, as OUT/NAME.png.
inline Path write_halves(const Path& folder, const std::string& name, std::array<uint8_t, 3> left,
                         std::array<uint8_t, 3> right) {
  image::Image photo(40, 30);
  for (int y = 0; y < photo.height; ++y) {
    for (int x = 0; x < photo.width; ++x) {
      const auto& colour = x < photo.width / 2 ? left : right;
      std::copy(colour.begin(), colour.end(), photo.row(y) + 3 * x);
    }
  }
  const Path file = folder / (name + ".png");
  image::write_rgb_png(file, photo);
  return file;
}

}  // namespace crisp::test
