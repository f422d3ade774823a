#include "crisp/data/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crisp/base/error.h"
#include "crisp/image/colour.h"
#include "crisp/image/resize.h"

namespace crisp::data {
namespace {

using image::Box;
using image::Image;
using image::Mask;

constexpr uint8_t kMeanColour[3] = {124, 116, 104};

Mask cut(const Mask& source, const Box& box) {
  Mask part(box.width, box.height);
  for (int y = 0; y < box.height; ++y) std::copy_n(source.row(box.top + y) + box.left, box.width, part.row(y));
  return part;
}

// A square of `side` pixels for an image at `place`; what that leaves free has the mean colour.
Image canvas_around(const Box& place, int side) {
  Image canvas(side, side);
  if (place.width == side && place.height == side) return canvas;
  std::vector<uint8_t> empty(static_cast<size_t>(side) * 3);
  for (size_t i = 0; i < empty.size(); ++i) empty[i] = kMeanColour[i % 3];
  for (int y = 0; y < side; ++y) {
    const bool free = y < place.top || y >= place.top + place.height;
    const int left = free ? side : place.left, right = free ? side : place.left + place.width;
    std::copy_n(empty.data(), 3 * left, canvas.row(y));
    std::copy_n(empty.data(), 3 * (side - right), canvas.row(y) + 3 * right);
  }
  return canvas;
}

Mask on_canvas(Mask part, const Box& place, int side, uint8_t outside) {
  if (place.width == side && place.height == side) return part;
  Mask canvas(side, side, outside);
  for (int y = 0; y < part.height; ++y) {
    std::copy_n(part.row(y), part.width, canvas.row(place.top + y) + place.left);
  }
  return canvas;
}

double random_scale(const AugmentOptions& options, const Image& photo, Rng& rng) {
  if (options.short_side_high > 0) {
    return rng.uniform(options.short_side_low, options.short_side_high) / std::min(photo.width, photo.height);
  }
  return std::exp(rng.uniform(std::log(options.scale_low), std::log(options.scale_high)));
}

// Where one side of the crop lies: `source` pixels from `from` become `target` pixels at `to`.
struct Side {
  int from, source, to, target;
};

Side random_side(int photo, int crop, double scale, Rng& rng) {
  const int box = std::max(1, static_cast<int>(std::lround(crop / scale)));
  if (box <= photo) return {static_cast<int>(rng.below(photo - box + 1)), box, 0, crop};
  const int target = std::clamp(static_cast<int>(std::lround(photo * scale)), 1, crop);
  return {0, photo, static_cast<int>(rng.below(crop - target + 1)), target};
}

void scale_and_crop(Example& example, const AugmentOptions& options, Rng& rng) {
  const double scale = random_scale(options, example.image, rng);
  const Side x = random_side(example.image.width, options.crop, scale, rng);
  const Side y = random_side(example.image.height, options.crop, scale, rng);
  const Box from{x.from, y.from, x.source, y.source}, to{x.to, y.to, x.target, y.target};

  Image canvas = canvas_around(to, options.crop);
  image::resize_into(example.image, from, canvas, to);
  example.image = std::move(canvas);
  const auto map = [&](Mask& mask, uint8_t outside) {
    if (mask.labels.empty()) return;
    mask = on_canvas(image::resize_nearest(cut(mask, from), to.width, to.height), to, options.crop, outside);
  };
  map(example.labels, image::kIgnore);
  map(example.uncertainty, 255);
  example.padding = on_canvas(Mask(to.width, to.height, 0), to, options.crop, 255);
}

void mirror(Example& example) {
  example.mirrored = !example.mirrored;
  // A pixel is moved as four bytes, the last of which the next pixel overwrites: a third of the work.
  const auto row_size = static_cast<size_t>(example.image.width) * 3;
  std::vector<uint8_t> row(row_size + 1), mirrored(row_size + 1);
  for (int y = 0; y < example.image.height; ++y) {
    std::memcpy(row.data(), example.image.row(y), row_size);
    for (size_t x = 0; x < row_size; x += 3) std::memcpy(mirrored.data() + x, row.data() + row_size - 3 - x, 4);
    std::memcpy(example.image.row(y), mirrored.data(), row_size);
  }
  for (Mask* mask : {&example.labels, &example.uncertainty, &example.padding}) {
    if (mask->labels.empty()) continue;
    for (int y = 0; y < mask->height; ++y) std::reverse(mask->row(y), mask->row(y) + mask->width);
  }
}

void change_colours(Image& image, const AugmentOptions& options, Rng& rng) {
  const auto factor = [&](double most) { return static_cast<float>(1 + rng.uniform(-most, most)); };
  image::ColourMatrix map;
  const bool jitter = rng.chance(options.jitter);
  if (jitter) {
    map = image::brightness(factor(options.brightness));
    map = image::contrast(factor(options.contrast), image::mean_luma(image)).after(map);
    map = image::saturation(factor(options.saturation)).after(map);
    map = image::hue(static_cast<float>(rng.uniform(-options.hue, options.hue))).after(map);
  }
  const bool grey = rng.chance(options.grey);
  if (grey) map = image::saturation(0).after(map);
  if (jitter || grey) image::apply(map, image);
  if (rng.chance(options.blur)) image::blur(image, static_cast<float>(rng.uniform(0.1, options.blur_high)));
}

void check_share(const char* name, double value) {
  if (!(value >= 0 && value <= 1)) throw UsageError("--{} {}: it lies between 0 and 1", name, value);
}

}  // namespace

void check(const AugmentOptions& options) {
  if (options.crop != 0 && (options.crop < 32 || options.crop > 8192)) {
    throw UsageError("--crop {}: a crop has 32 to 8192 pixels, or 0 for whole photos", options.crop);
  }
  if (!(options.scale_low > 0 && options.scale_low <= options.scale_high && options.scale_high <= 16)) {
    throw UsageError("--scale {} {}: the first is above 0 and not above the second", options.scale_low,
                     options.scale_high);
  }
  if (options.short_side_high > 0 && (options.short_side_low < 1 || options.short_side_low > options.short_side_high)) {
    throw UsageError("--short-side {} {}: the first is at least 1 and not above the second", options.short_side_low,
                     options.short_side_high);
  }
  check_share("flip", options.flip);
  check_share("jitter", options.jitter);
  check_share("brightness", options.brightness);
  check_share("contrast", options.contrast);
  check_share("saturation", options.saturation);
  check_share("hue", options.hue);
  check_share("blur", options.blur);
  check_share("grey", options.grey);
}

Example augment(Example example, const AugmentOptions& options, Rng& rng) {
  if (options.crop > 0) {
    scale_and_crop(example, options, rng);
  } else {
    example.padding = Mask(example.image.width, example.image.height, 0);
  }
  if (rng.chance(options.flip)) mirror(example);
  if (options.jitter > 0 || options.grey > 0 || options.blur > 0) change_colours(example.image, options, rng);
  return example;
}

}  // namespace crisp::data
