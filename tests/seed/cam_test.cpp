// Class activation maps against Hugging Face's encoder, and the seeds made of them.
#include "crisp/seed/cam.h"

#include "crisp/base/error.h"
#include "crisp/image/encode.h"
#include "crisp/seed/make_seeds.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

const tensor::StateDict& cam_golden() {
  static const tensor::StateDict golden = read_golden("seed/cam.safetensors");
  return golden;
}

model::CamClassifier golden_classifier() {
  model::CamClassifierConfig config;
  config.encoder = tiny_encoder();
  config.encoder.strides[3] = 1;
  config.classes = {"background", "a", "b", "c", "d"};
  model::CamClassifier network(config);
  tensor::StateDict state{{"classifier.weight", cam_golden().at("classifier")}};
  for (const auto& [name, value] : read_golden("model/hf_weights.safetensors")) {
    if (name.starts_with("encoder.")) state[name] = value;
  }
  tensor::load_into(*network, state, "golden");
  return network;
}

image::Image photo(const std::string& name) {
  const torch::Tensor pixels = cam_golden().at(name + ".photo").contiguous();
  image::Image image(static_cast<int>(pixels.size(1)), static_cast<int>(pixels.size(0)));
  std::copy_n(pixels.const_data_ptr<uint8_t>(), image.rgb.size(), image.rgb.begin());
  return image;
}

std::vector<int> tags(const std::string& name) {
  std::vector<int> all;
  const torch::Tensor numbers = cam_golden().at(name + ".tags");
  for (int64_t i = 0; i < numbers.numel(); ++i) all.push_back(numbers[i].item<int>());
  return all;
}

torch::Tensor maps_of(const seed::Cams& cams) {
  return torch::tensor(cams.maps).view({static_cast<int64_t>(cams.classes.size()), cams.height, cams.width});
}

const seed::CamOptions kScales{.scales = {1, 0.5, 1.5}, .flip = true, .multiple = 1, .similarity = 0};

TEST(Cam, AgreesWithHuggingFaceOverScalesAndFlips) {
  for (const torch::Device device : devices()) {
    seed::CamMaker maker({golden_classifier()}, device, torch::kFloat, kScales);
    for (const std::string name : {"a", "b", "small"}) {  // the last has sides of 30 pixels
      const seed::Cams cams = maker.run({photo(name)}, {tags(name)})[0];
      EXPECT_EQ(cams.classes, tags(name));
      expect_close(name, maps_of(cams), cam_golden().at(name + ".cam"), 1e-4);
    }
    seed::CamMaker single({golden_classifier()}, device, torch::kFloat,
                          {.scales = {1}, .flip = false, .multiple = 1, .similarity = 0});
    expect_close("single", maps_of(single.run({photo("a")}, {tags("a")})[0]), cam_golden().at("a.single"), 1e-4);
  }
}

// The golden classifier with its classes in another order: each class has another one's maps.
model::CamClassifier turned_classifier() {
  model::CamClassifier other = golden_classifier();
  const torch::NoGradGuard no_gradient;
  other->classifier->weight.copy_(other->classifier->weight.roll(1, 0));
  return other;
}

TEST(Cam, SeveralClassifiersGiveTheStretchedMeanOfTheirMaps) {
  const std::vector<image::Image> photos = {photo("a"), photo("a")};
  const std::vector<std::vector<int>> wanted = {tags("a"), {}};
  const auto made = [&](std::vector<model::CamClassifier> classifiers) {
    const std::vector<seed::Cams> all =
        seed::CamMaker(std::move(classifiers), torch::kCPU, torch::kFloat, kScales).run(photos, wanted);
    EXPECT_TRUE(all[1].maps.empty());
    return maps_of(all[0]);
  };
  const torch::Tensor one = made({golden_classifier()}), other = made({turned_classifier()});
  EXPECT_GT((one - other).abs().max().item<double>(), 0.1);
  expect_close("mean", made({golden_classifier(), turned_classifier()}), seed::stretched(one + other), 1e-5);
  expect_close("twice the same", made({golden_classifier(), golden_classifier()}), one, 1e-4);

  model::CamClassifierConfig config = golden_classifier()->config;
  config.classes.back() = "unicorn";
  EXPECT_NE(error_of([&] { made({golden_classifier(), model::CamClassifier(config)}); }).find("unicorn"),
            std::string::npos);
  EXPECT_NE(error_of([&] { made({}); }).find("--classifier"), std::string::npos);
}

TEST(Cam, ABatchIsAsOneByOne) {
  seed::CamMaker maker({golden_classifier()}, torch::kCPU, torch::kFloat, kScales);
  const std::vector<seed::Cams> both = maker.run({photo("a"), photo("b")}, {tags("a"), tags("b")});
  ASSERT_EQ(both.size(), 2u);
  expect_close("a", maps_of(both[0]), cam_golden().at("a.cam"), 1e-4);
  expect_close("b", maps_of(both[1]), cam_golden().at("b.cam"), 1e-4);
  const std::vector<seed::Cams> one = maker.run({photo("a"), photo("b")}, {{}, tags("b")});
  EXPECT_TRUE(one[0].maps.empty());
  expect_close("beside one without tags", maps_of(one[1]), maps_of(both[1]), 1e-6);
  EXPECT_TRUE(maker.run({}, {}).empty());
}

// The features are those of the scale nearest to 1, both directions; the formula has its own test.
TEST(Cam, SpreadMapsCoverWhatIsAlikeAndStayMaps) {
  seed::CamMaker plain({golden_classifier()}, torch::kCPU, torch::kFloat, kScales);
  seed::CamOptions options = kScales;
  options.similarity = 4;
  options.similarity_rounds = 2;
  seed::CamMaker spread({golden_classifier()}, torch::kCPU, torch::kFloat, options);
  const torch::Tensor before = maps_of(plain.run({photo("a")}, {tags("a")})[0]);
  const torch::Tensor after = maps_of(spread.run({photo("a")}, {tags("a")})[0]);
  EXPECT_GT((after - before).abs().mean().item<double>(), 0.02);
  EXPECT_GE(after.min().item<double>(), 0);
  EXPECT_LE(after.max().item<double>(), 1);
  // A photo's maps do not depend on its neighbours in a batch, nor on which way round it is.
  const torch::Tensor beside = maps_of(spread.run({photo("b"), photo("a")}, {tags("b"), tags("a")})[1]);
  expect_close("beside another", beside, after, 1e-4);
  image::Image mirrored = photo("a");
  for (int y = 0; y < mirrored.height; ++y) {
    for (int x = 0; x < mirrored.width; ++x) {
      for (size_t c = 0; c < 3; ++c) {
        mirrored.rgb[3 * static_cast<size_t>(y * mirrored.width + x) + c] =
            photo("a").rgb[3 * static_cast<size_t>(y * mirrored.width + mirrored.width - 1 - x) + c];
      }
    }
  }
  expect_close("mirrored", maps_of(spread.run({mirrored}, {tags("a")})[0]).flip(2), after, 1e-3);
}

TEST(Cam, OddSizesWork) {
  seed::CamMaker maker({golden_classifier()}, torch::kCPU, torch::kFloat, {});
  for (const auto& [width, height] : {std::pair{1, 1}, {33, 7}, {30, 95}}) {
    image::Image image(width, height);
    for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(37 * i);
    const seed::Cams cams = maker.run({image}, {{1, 2, 3, 4}})[0];
    ASSERT_EQ(cams.maps.size(), 4 * image.rgb.size() / 3);
    for (const float value : cams.maps) ASSERT_TRUE(value >= 0 && value <= 1) << value;
  }
}

TEST(Cam, ScalesFollowThePhotosSizeUnlessGiven) {
  EXPECT_EQ(seed::scales_for({}, 399, 20), (std::vector<double>{1, 1.5, 2}));
  EXPECT_EQ(seed::scales_for({}, 20, 400), (std::vector<double>{1, 0.5, 1.5}));
  EXPECT_EQ(seed::scales_for({.scales = {0.7}}, 20, 400), (std::vector<double>{0.7}));
  EXPECT_THROW(seed::check(seed::CamOptions{.scales = {1, 0}}), UsageError);
  EXPECT_THROW(seed::check(seed::CamOptions{.scales = {std::nan("")}}), UsageError);
}

TEST(AffinityFeatures, OneCellForEightPixelsOfThePhotoScaledToFewSizes) {
  seed::AffinityMaker maker(model::make_affinity_net(golden_classifier()), torch::kCPU, torch::kFloat);
  image::Image image(100, 20);  // becomes 96 x 32
  const seed::AffinityFeatures features = maker.run({image})[0];
  EXPECT_EQ(features.width, 12);
  EXPECT_EQ(features.height, 4);
  EXPECT_EQ(features.values.size(), 448u * 48u);
}

class MakeSeeds : public testing::Test {
 protected:
  MakeSeeds() {
    for (int i = 0; i < 6; ++i) add("p" + std::to_string(i), photo(i % 2 == 0 ? "a" : "small"), {1 + i % 2, 4});
  }
  void add(const std::string& id, const image::Image& image, const std::vector<int>& tags_of_it) {
    data::Sample sample;
    sample.id = id;
    sample.image = folder_.path() / (id + ".png");
    image::write_rgb_png(sample.image, image);
    sample.tags = tags_of_it;
    sample.has_tags = true;
    samples_.push_back(sample);
  }
  std::optional<data::SeedFacts> make(const seed::SeedOptions& options, const std::string& name) {
    seed::CamMaker maker({golden_classifier()}, torch::kCPU, torch::kFloat,
                         {.scales = {1}, .flip = false, .multiple = 1, .similarity = 0});
    return seed::make_seeds(maker, nullptr, seed::photos_for_seeds(samples_, options.untagged), options,
                            {.made_by = "me", .classes = maker.classes()}, folder_.path() / name);
  }

  TemporaryFolder folder_;
  std::vector<data::Sample> samples_;
};

TEST_F(MakeSeeds, LabelsAreTagsAndWhatIsStoredIsWhatWasComputed) {
  const auto facts = make({}, "seeds");
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->images, 6);
  EXPECT_TRUE(facts->complete);
  EXPECT_EQ(facts->class_images[3], 0);
  const data::SeedFolder seeds(folder_.path() / "seeds");
  seed::CamMaker maker({golden_classifier()}, torch::kCPU, torch::kFloat,
                       {.scales = {1}, .flip = false, .multiple = 1, .similarity = 0});
  int64_t pixels = 0;
  for (const data::Sample& sample : samples_) {
    const image::Image image = photo(sample.tags[0] == 1 ? "a" : "small");
    const data::Seed expected = seed::to_seed(seed::posterior(maker.run({image}, {sample.tags})[0], {}));
    const data::Seed got = seeds.read(sample.id);
    size_t differing = 0;
    for (size_t i = 0; i < got.labels.labels.size(); ++i)
      differing += got.labels.labels[i] != expected.labels.labels[i];
    EXPECT_LE(differing, 2u) << "batches round a little differently";
    pixels += static_cast<int64_t>(got.labels.labels.size());
  }
  int64_t counted = facts->ignored_pixels;
  for (const int64_t count : facts->class_pixels) counted += count;
  EXPECT_EQ(counted, pixels);
}

TEST_F(MakeSeeds, StoppedItGoesOnAndNothingIsWrittenTwice) {
  seed::SeedOptions options;
  options.workers = 1;
  options.batch = 1;
  int asked = 0;
  options.stop = [&] { return ++asked > 1; };
  EXPECT_FALSE(make(options, "seeds").has_value());
  std::map<Path, std::filesystem::file_time_type> times;
  for (const Path& file : list_files(folder_.path() / "seeds" / "labels", {".png"})) {
    times[file] = std::filesystem::last_write_time(file);
  }
  EXPECT_GT(times.size(), 0u);
  EXPECT_LT(times.size(), 6u);
  EXPECT_NE(error_of([&] { data::SeedFolder(folder_.path() / "seeds"); }).find("not complete"), std::string::npos);
  options.stop = {};
  ASSERT_TRUE(make(options, "seeds").has_value());
  EXPECT_EQ(list_files(folder_.path() / "seeds" / "labels", {".png"}).size(), 6u);
  for (const auto& [file, time] : times) EXPECT_EQ(std::filesystem::last_write_time(file), time) << file;
}

TEST_F(MakeSeeds, UntaggedPhotosAreCountedOrBackground) {
  samples_[2].has_tags = false;
  samples_[2].tags.clear();
  samples_[3].tags.clear();  // tagged with nothing: shows none of the classes
  const auto skipped = make({}, "skip");
  EXPECT_EQ(skipped->images, 5);
  EXPECT_EQ(skipped->untagged, 1);
  seed::SeedOptions options;
  options.untagged = seed::parse_untagged("background");
  const auto all = make(options, "all");
  EXPECT_EQ(all->images, 6);
  EXPECT_EQ(all->untagged, 0);
  const data::SeedFolder seeds(folder_.path() / "all");
  for (const char* id : {"p2", "p3"}) {
    for (const uint8_t label : seeds.read(id).labels.labels) ASSERT_EQ(label, 0);
  }
  EXPECT_THROW(seed::parse_untagged("guess"), UsageError);
}

TEST_F(MakeSeeds, UnreadablePhotosAreListed) {
  write_atomic(samples_[1].image, "no picture");
  const auto facts = make({}, "seeds");
  EXPECT_EQ(facts->images, 5);
  ASSERT_EQ(facts->skipped.size(), 1u);
  EXPECT_NE(facts->skipped.at("p1").find("p1.png"), std::string::npos);
  for (data::Sample& sample : samples_) write_atomic(sample.image, "no picture");
  EXPECT_NE(error_of([&] { make({}, "none"); }).find("not one of 6 photos"), std::string::npos);
}

TEST_F(MakeSeeds, LargePhotosAreWorkedOnSmallAndComeBackInTheirSize) {
  samples_.clear();
  add("long", image::Image(900, 12), {2});
  seed::SeedOptions options;
  options.max_side = 64;
  options.keep_cams = true;
  ASSERT_TRUE(make(options, "seeds").has_value());
  const data::Seed seed = data::SeedFolder(folder_.path() / "seeds").read("long");
  EXPECT_EQ(seed.labels.width, 900);
  EXPECT_EQ(seed.uncertainty.height, 12);
  const auto cams = tensor::read_safetensors(folder_.path() / "seeds" / "cams" / "long.safetensors").tensors;
  ASSERT_EQ(cams.size(), 1u);
  EXPECT_EQ(cams.at("2").sizes(), (std::vector<int64_t>{1, 64}));
}

TEST_F(MakeSeeds, ConfidentLabelsAreIgnoredBetweenTheBackgrounds) {
  seed::SeedOptions options;
  options.confident = true;
  options.sure_object = {.power = true, .value = 1};
  options.sure_background = {.power = true, .value = 16};
  ASSERT_TRUE(make(options, "sure").has_value());
  const data::SeedFolder sure(folder_.path() / "sure");
  seed::CamMaker maker({golden_classifier()}, torch::kCPU, torch::kFloat,
                       {.scales = {1}, .flip = false, .multiple = 1, .similarity = 0});
  const seed::Cams cams = maker.run({photo("a")}, {{1, 4}})[0];
  const auto labels = [&](double power) {
    return seed::best_labels(seed::posterior(cams, {.power = true, .value = power})).labels;
  };
  const std::vector<uint8_t> low = labels(1), high = labels(16), got = sure.read("p0").labels.labels;
  size_t wrong = 0, unknown = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const uint8_t expected = low[i] > 0 ? low[i] : high[i] == 0 ? 0 : 255;
    wrong += got[i] != expected;
    unknown += got[i] == 255;
  }
  EXPECT_LE(wrong, 2u);
  EXPECT_GT(unknown, 20u);
}

}  // namespace
}  // namespace crisp::test
