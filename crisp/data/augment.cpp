#include "crisp/data/augment.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/image/colour.h"
#include "crisp/image/resize.h"

namespace crisp::data {
namespace {

using image::Image;
using image::Mask;

constexpr uint8_t kMeanColour[3] = {124, 116, 104};

struct Box {
  int left, top, width, height;
};

Image cut(const Image& source, const Box& box) {
  Image part(box.width, box.height);
  for (int y = 0; y < box.height; ++y) {
    std::copy_n(source.row(box.top + y) + 3 * box.left, 3 * box.width, part.row(y));
  }
  return part;
}

Mask cut(const Mask& source, const Box& box) {
  Mask part(box.width, box.height);
  for (int y = 0; y < box.height; ++y) std::copy_n(source.row(box.top + y) + box.left, box.width, part.row(y));
  return part;
}

void paste(const Image& part, int left, int top, Image& canvas) {
  for (int y = 0; y < part.height; ++y) std::copy_n(part.row(y), 3 * part.width, canvas.row(top + y) + 3 * left);
}

void paste(const Mask& part, int left, int top, Mask& canvas) {
  for (int y = 0; y < part.height; ++y) std::copy_n(part.row(y), part.width, canvas.row(top + y) + left);
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
  const Box box{x.from, y.from, x.source, y.source};

  Image canvas(options.crop, options.crop);
  for (size_t i = 0; i < canvas.rgb.size(); ++i) canvas.rgb[i] = kMeanColour[i % 3];
  paste(image::resize(cut(example.image, box), x.target, y.target), x.to, y.to, canvas);
  example.image = std::move(canvas);

  const auto map = [&](Mask& mask, uint8_t outside) {
    if (mask.labels.empty()) return;
    Mask whole(options.crop, options.crop, outside);
    paste(image::resize_nearest(cut(mask, box), x.target, y.target), x.to, y.to, whole);
    mask = std::move(whole);
  };
  map(example.labels, image::kIgnore);
  map(example.uncertainty, 255);
  example.padding = Mask(options.crop, options.crop, 255);
  paste(Mask(x.target, y.target, 0), x.to, y.to, example.padding);
}

void mirror(Example& example) {
  for (int y = 0; y < example.image.height; ++y) {
    uint8_t* row = example.image.row(y);
    for (int a = 0, b = example.image.width - 1; a < b; ++a, --b)
      std::swap_ranges(row + 3 * a, row + 3 * a + 3, row + 3 * b);
  }
  for (Mask* mask : {&example.labels, &example.uncertainty, &example.padding}) {
    if (mask->labels.empty()) continue;
    for (int y = 0; y < mask->height; ++y) std::reverse(mask->row(y), mask->row(y) + mask->width);
  }
}

void change_colours(Image& image, const AugmentOptions& options, Rng& rng) {
  const auto factor = [&](double most) { return static_cast<float>(1 + rng.uniform(-most, most)); };
  image::ColourMatrix map;
  if (rng.chance(options.jitter)) {
    map = image::brightness(factor(options.brightness));
    map = image::contrast(factor(options.contrast), image::mean_luma(image)).after(map);
    map = image::saturation(factor(options.saturation)).after(map);
    map = image::hue(static_cast<float>(rng.uniform(-options.hue, options.hue))).after(map);
  }
  if (rng.chance(options.grey)) map = image::saturation(0).after(map);
  image::apply(map, image);
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
