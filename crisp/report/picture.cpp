#include "crisp/report/picture.h"

#include <fmt/format.h>

#include <bitset>

#include "crisp/image/encode.h"
#include "crisp/image/heat_map.h"
#include "crisp/image/overlay.h"

namespace crisp::report {
namespace {

using image::Colour;

constexpr Colour kMissed{245, 179, 1}, kInvented{224, 33, 138}, kSwapped{47, 123, 255}, kPlain{96, 104, 114};
constexpr int kQuality = 84;

std::string css(const Colour& colour) {
  return fmt::format("background:rgb({},{},{})", colour[0], colour[1], colour[2]);
}

Html chip(const Colour& colour, const std::string& name) {
  return tag("span", {}, {tag("span", {{"class", "swatch"}, {"style", css(colour)}}), name});
}

Html inline_picture(const char* type, const std::string& bytes, const image::Image& image, const std::string& alt) {
  return tag("img", {{"src", fmt::format("data:image/{};base64,{}", type, base64(bytes))},
                     {"alt", alt},
                     {"width", std::to_string(image.width)},
                     {"height", std::to_string(image.height)}});
}

bool has_photo(const Example& example) { return example.photo.width > 0; }

image::Image coloured(const image::Mask& mask) {
  image::Image out(mask.width, mask.height);
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    const Colour& colour = image::voc_palette()[mask.labels[i]];
    for (size_t c = 0; c < 3; ++c) out.rgb[3 * i + c] = colour[c];
  }
  return out;
}

Html mask_picture(const Example& example, const image::Mask& mask, const ClassNames& names, const std::string& alt) {
  if (!has_photo(example)) return drawn_picture(coloured(mask), alt);
  return photo_picture(image::overlay(example.photo, mask, names, {.alpha = 0.62, .legend = false}), alt);
}

Html figure(const Html& picture, const char* caption) {
  return tag("figure", {}, {picture, tag("figcaption", {}, {caption})});
}

Html class_chips(const Example& example, const ClassNames& names) {
  std::bitset<256> present;
  for (const image::Mask* mask : {&example.truth, &example.prediction}) {
    for (const uint8_t label : mask->labels) present.set(label);
  }
  Html chips;
  for (size_t label = 1; label < names.size(); ++label) {
    if (present[label]) chips += chip(image::voc_palette()[label], names[label]);
  }
  if (present[image::kIgnore]) chips += chip(image::voc_palette()[image::kIgnore], "ignored");
  return tag("span", {{"class", "chips"}}, {chips});
}

}  // namespace

Html photo_picture(const image::Image& image, const std::string& alt) {
  return inline_picture("jpeg", image::encode_jpeg(image, kQuality), image, alt);
}

Html drawn_picture(const image::Image& image, const std::string& alt) {
  return inline_picture("png", image::encode_rgb_png(image), image, alt);
}

image::Image error_picture(const Example& example) {
  image::Image out(example.truth.width, example.truth.height);
  for (size_t i = 0; i < example.truth.labels.size(); ++i) {
    uint8_t* pixel = out.rgb.data() + 3 * i;
    const int truth = example.truth.labels[i], predicted = example.prediction.labels[i];
    int grey = kPlain[1];
    if (has_photo(example)) {
      const uint8_t* photo = example.photo.rgb.data() + 3 * i;
      grey = (photo[0] * 77 + photo[1] * 150 + photo[2] * 29) / 256 * 5 / 8 + 30;
    }
    for (size_t c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(grey);
    if (truth == image::kIgnore) {
      for (size_t c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>((grey + 2 * 205) / 3);
    } else if (truth != predicted) {
      const bool nothing = predicted == 0 || predicted == image::kIgnore;
      const Colour& colour = nothing ? kMissed : truth == 0 ? kInvented : kSwapped;
      for (size_t c = 0; c < 3; ++c) pixel[c] = colour[c];
    }
  }
  return out;
}

Html error_legend() {
  return tag("div", {{"class", "chips spaced"}},
             {chip(kMissed, "missed: an object taken for background"),
              chip(kInvented, "false alarm: background taken for an object"), chip(kSwapped, "another class"),
              chip({205, 205, 205}, "not scored")});
}

Html example_card(const Example& example, const ClassNames& names) {
  Html pictures;
  int count = 3;
  if (has_photo(example)) {
    pictures += figure(photo_picture(example.photo, example.name), "photo");
    ++count;
  }
  pictures += figure(mask_picture(example, example.truth, names, "truth of " + example.name), "truth");
  pictures += figure(mask_picture(example, example.prediction, names, "prediction for " + example.name), "prediction");
  pictures += figure(drawn_picture(error_picture(example), "errors in " + example.name), "errors");
  if (example.uncertainty.width > 0) {
    const image::Image heat = image::heat_map(example.uncertainty);
    pictures += figure(photo_picture(heat, "uncertainty of " + example.name), "uncertainty, dark is sure");
    ++count;
  }
  const char* kind = count == 5 ? "strip five" : count == 4 ? "strip four" : "strip three";
  return tag("article", {{"class", "card example"}},
             {tag("header", {},
                  {tag("span", {{"class", "name"}}, {example.name}),
                   tag("span", {}, {fmt::format("mIoU {:.1f}%", example.score)}), class_chips(example, names)}),
              tag("div", {{"class", kind}}, {pictures})});
}

}  // namespace crisp::report
