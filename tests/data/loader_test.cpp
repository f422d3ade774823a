#include "crisp/data/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/image/colour.h"

namespace crisp::data {
namespace {

// An example that shows which sample it is and which random numbers it got.
Example numbered(size_t index, Rng& rng) {
  Example example;
  example.id = std::to_string(index) + ":" + std::to_string(rng.below(1000000));
  return example;
}

std::vector<std::string> ids(Loader& loader, int batches) {
  std::vector<std::string> all;
  for (int i = 0; i < batches; ++i) {
    for (const Example& example : loader.next()) all.push_back(example.id);
  }
  return all;
}

TEST(Loader, OrderDoesNotDependOnTheNumberOfWorkers) {
  Loader one(10, numbered, {.batch = 3, .workers = 1, .seed = 5});
  Loader four(10, numbered, {.batch = 3, .workers = 4, .seed = 5});
  Loader other(10, numbered, {.batch = 3, .workers = 1, .seed = 6});
  const auto expected = ids(one, 12);
  EXPECT_EQ(ids(four, 12), expected);
  EXPECT_NE(ids(other, 12), expected);
}

TEST(Loader, GoesOnWhereItStopped) {
  Loader whole(10, numbered, {.batch = 4, .workers = 2, .seed = 1});
  const auto expected = ids(whole, 9);
  Loader later(10, numbered, {.batch = 4, .workers = 2, .seed = 1});
  ids(later, 2);
  later.seek(5);
  EXPECT_EQ(later.position(), 5);
  EXPECT_EQ(ids(later, 4), std::vector<std::string>(expected.begin() + 20, expected.end()));
}

TEST(Loader, AnEpochVisitsEachSampleAtMostOnce) {
  Loader loader(11, numbered, {.batch = 5, .workers = 2, .seed = 2});
  EXPECT_EQ(loader.batches_per_epoch(), 2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::string> samples;
    for (const std::string& id : ids(loader, 2)) samples.insert(id.substr(0, id.find(':')));
    EXPECT_EQ(samples.size(), 10u);
  }
  Loader plain(4, numbered, {.batch = 6, .workers = 1, .seed = 2, .shuffle = false});
  const auto repeated = ids(plain, 1);
  EXPECT_EQ(repeated[0].substr(0, 2), "0:");
  EXPECT_EQ(repeated[5].substr(0, 2), "1:") << "a batch larger than the data set repeats samples";
}

TEST(Loader, BrokenSamplesAreReplacedAndNamedOnce) {
  set_log_level(LogLevel::kQuiet);
  const auto make = [](size_t index, Rng& rng) {
    if (index == 2 || index == 3) throw Error("photo {} is broken", index);
    return numbered(index, rng);
  };
  Loader loader(6, make, {.batch = 3, .workers = 2, .seed = 3});
  for (const std::string& id : ids(loader, 8)) {
    EXPECT_NE(id.substr(0, 2), "2:");
    EXPECT_NE(id.substr(0, 2), "3:");
  }
  EXPECT_EQ(loader.skipped().size(), 2u);
  Loader hopeless(3, [](size_t, Rng&) -> Example { throw Error("nothing here"); }, {.batch = 1, .workers = 1});
  EXPECT_THROW(hopeless.next(), Error);
  EXPECT_THROW(Loader(0, numbered, {}), Error);
  set_log_level(LogLevel::kInfo);
}

// A photo whose colour says what its label must be, in blocks wide enough that the middle of one survives any scaling.
Example coded_photo(int width, int height) {
  Example example;
  example.image = image::Image(width, height);
  example.labels = image::Mask(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int label = (x / 16 + y / 16) % 4;
      example.labels.row(y)[x] = static_cast<uint8_t>(label);
      for (int c = 0; c < 3; ++c) example.image.row(y)[3 * x + c] = static_cast<uint8_t>(20 + 70 * label);
    }
  }
  return example;
}

TEST(Augment, LabelsFollowTheImage) {
  const AugmentOptions options{.crop = 64, .jitter = 0, .blur = 0, .grey = 0};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const Example got = augment(coded_photo(100, 70), options, rng);
    ASSERT_EQ(got.image.width, 64);
    ASSERT_EQ(got.labels.height, 64);
    int close = 0, inside = 0;
    for (int y = 0; y < 64; ++y) {
      for (int x = 0; x < 64; ++x) {
        const int label = got.labels.row(y)[x];
        if (got.padding.row(y)[x] == 255) {
          EXPECT_EQ(label, 255);
          EXPECT_EQ(got.image.row(y)[3 * x], 124);
          continue;
        }
        ++inside;
        close += std::abs(got.image.row(y)[3 * x] - (20 + 70 * label)) <= 35;
      }
    }
    EXPECT_GT(inside, 0);
    EXPECT_GE(close, inside * 94 / 100) << "seed " << seed << ": labels and pixels drift apart";
  }
}

TEST(Augment, ScalesLieInTheirRange) {
  // A photo of one black column every 10 pixels: their distance in the crop is the scale.
  AugmentOptions options{.crop = 40, .scale_low = 1, .scale_high = 1, .flip = 0, .jitter = 0, .blur = 0, .grey = 0};
  Rng rng(1);
  const Example same = augment(coded_photo(40, 40), options, rng);
  EXPECT_EQ(same.image.rgb, coded_photo(40, 40).image.rgb) << "scale 1 and no room to move: the photo itself";
  options.flip = 1;
  const Example turned = augment(coded_photo(40, 40), options, rng);
  EXPECT_EQ(turned.labels.row(0)[0], coded_photo(40, 40).labels.row(0)[39]);
  options.crop = 0;
  EXPECT_EQ(augment(coded_photo(33, 21), options, rng).image.width, 33);
}

TEST(Augment, IsDeterministicAndRefusesNonsense) {
  const AugmentOptions options{.crop = 48, .blur = 1, .grey = 0.5};
  Rng a(7), b(7);
  EXPECT_EQ(augment(coded_photo(90, 60), options, a).image.rgb, augment(coded_photo(90, 60), options, b).image.rgb);
  EXPECT_THROW(check(AugmentOptions{.crop = 8}), UsageError);
  EXPECT_THROW(check(AugmentOptions{.scale_low = 2, .scale_high = 1}), UsageError);
  EXPECT_THROW(check(AugmentOptions{.flip = 1.5}), UsageError);
  EXPECT_NO_THROW(check(AugmentOptions{}));
}

TEST(Colour, MatricesDoWhatTheirNamesSay) {
  image::Image picture(2, 1);
  picture.rgb = {200, 100, 50, 10, 20, 30};
  image::Image same = picture;
  image::apply(image::hue(0).after(image::saturation(1).after(image::brightness(1))), same);
  EXPECT_EQ(same.rgb, picture.rgb);
  image::Image grey = picture;
  image::apply(image::saturation(0), grey);
  EXPECT_EQ(grey.rgb[0], 124);  // 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2
  EXPECT_EQ(grey.rgb[1], 124);
  image::Image bright = picture;
  image::apply(image::brightness(2), bright);
  EXPECT_EQ(bright.rgb, (std::vector<uint8_t>{255, 200, 100, 20, 40, 60}));
  image::Image flat = picture;
  image::apply(image::contrast(0, 77), flat);
  EXPECT_EQ(flat.rgb, (std::vector<uint8_t>(6, 77)));
  EXPECT_NEAR(image::mean_luma(picture), (124.2 + 18.15) / 2, 0.01);
  image::Image turned = picture;  // a third of the circle takes red towards another primary and keeps luma
  image::apply(image::hue(1.0f / 3), turned);
  EXPECT_GT(std::max(turned.rgb[1], turned.rgb[2]), turned.rgb[0]);
  EXPECT_NEAR(image::mean_luma(turned), image::mean_luma(picture), 8);
}

TEST(Colour, BlurIsAGaussian) {
  image::Image dot(31, 31);
  for (int c = 0; c < 3; ++c) dot.row(15)[3 * 15 + c] = 255;
  image::Image soft = dot;
  image::blur(soft, 1.0f);
  // exp(-r^2 / 2) / (2 pi) * 255
  EXPECT_NEAR(soft.row(15)[45], 40.6, 1.5);
  EXPECT_NEAR(soft.row(15)[48], 24.6, 1.5);
  EXPECT_NEAR(soft.row(16)[48], 14.9, 1.5);
  EXPECT_EQ(soft.row(15)[42], soft.row(15)[48]) << "symmetric";
  image::Image flat(9, 7);
  std::fill(flat.rgb.begin(), flat.rgb.end(), uint8_t{93});
  image::Image still = flat;
  image::blur(still, 2.0f);
  EXPECT_EQ(still.rgb, flat.rgb) << "edges are repeated, so nothing darkens";
}

}  // namespace
}  // namespace crisp::data
