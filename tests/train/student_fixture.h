#pragma once

#include "crisp/base/error.h"
#include "crisp/image/encode.h"
#include "crisp/train/segment_task.h"
#include "crisp/train/trainer.h"
#include "tests/support/tensors.h"
#include "tests/train/log_text.h"

namespace crisp::test {

// The real structure with as few channels as its heads of attention allow.
inline model::SegmenterConfig small_student(const std::string& ablation = "A6", const std::string& uncertainty = "U4",
                                            int64_t classes = 3, double dropout = 0) {
  model::SegmenterConfig config;
  config.encoder.arch = "custom";
  config.encoder.dims = {4, 8, 10, 16};
  config.encoder.depths = {1, 1, 1, 1};
  config.encoder.drop_path = 0;
  config.head = train::student_row(ablation, uncertainty, 8, classes).head;
  config.head.hidden = 8;
  config.head.dropout = dropout;
  config.classes = read_classes(std::to_string(classes));
  return config;
}

inline model::Segmenter drawn(const model::SegmenterConfig& config, uint64_t seed = 2) {
  torch::manual_seed(seed);
  model::Segmenter network = model::make_segmenter(config);
  const torch::NoGradGuard no_grad;  // a refiner and scores that start at zero would hide mistakes
  for (const auto& item : network->head->named_parameters()) {
    if (item.value().abs().sum().item<float>() == 0) item.value().normal_(0, 0.2);
    if (item.key() == "classifier.weight") item.value().normal_(0, 1);
    if (item.key() == "modulation") item.value().normal_(0, 1);  // one alpha for all scales would cancel
  }
  return network;
}

// A folder of photos with a square of class 1 or 2 on grey noise, its masks, and seeds that are masks with a rim of
// wrong pixels, uncertain towards the right.
struct Scenes {
  TemporaryFolder folder;
  data::Dataset dataset;
  std::vector<data::Sample> samples;

  Path seeds() const { return folder.path() / "seeds"; }
  Path run(const std::string& name = "run") const {
    make_folder(folder.path() / name);
    return folder.path() / name;
  }

  explicit Scenes(int count, int width = 64, int height = 64) {
    dataset.classes = {"background", "red", "blue"};
    data::SeedWriter writer(seeds(), {.made_by = "a test", .data = "scenes", .classes = dataset.classes});
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) {
      data::Sample sample;
      sample.id = "p" + std::to_string(i);
      sample.image = folder.path() / (sample.id + ".png");
      sample.mask = folder.path() / (sample.id + "_mask.png");
      sample.tags = {1 + i % 2};
      sample.has_tags = true;
      const int left = 8 + 3 * (i % 5), top = 10 + 2 * (i % 7), side = width / 2 - 6;
      image::Image photo(width, height);
      image::Mask truth(width, height);
      data::Seed seed{image::Mask(width, height), image::Mask(width, height)};
      Rng rng(7, static_cast<uint64_t>(i));
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const auto inside = [&](int rim) {
            return x >= left - rim && x < left + side + rim && y >= top - rim && y < top + side + rim;
          };
          const auto noise = static_cast<uint8_t>(rng.below(40));
          uint8_t* pixel = photo.row(y) + 3 * x;
          for (int c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(90 + noise);
          if (inside(0)) pixel[i % 2 == 0 ? 0 : 2] = static_cast<uint8_t>(200 + noise);
          truth.row(y)[x] = inside(0) ? static_cast<uint8_t>(sample.tags[0]) : uint8_t{0};
          seed.labels.row(y)[x] = inside(3) ? static_cast<uint8_t>(sample.tags[0]) : uint8_t{0};
          if (x < 4) seed.labels.row(y)[x] = image::kIgnore;
          seed.uncertainty.row(y)[x] = static_cast<uint8_t>(x * 255 / width);
        }
      }
      image::write_rgb_png(sample.image, photo);
      image::write_mask_png(*sample.mask, truth);
      writer.write(sample.id, seed);
      ids.push_back(sample.id);
      samples.push_back(std::move(sample));
    }
    writer.finish(ids, 1);
    dataset.all = samples;
  }

  train::SegmentData data(size_t val = 0) const {
    train::SegmentData data;
    data.dataset = &dataset;
    data.train = samples;
    data.val.assign(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(val));
    data.val_split = "val";
    data.val_has_masks = val > 0;
    data.seeds.emplace(seeds());
    return data;
  }
};

// As the photos are: nothing random but their order.
inline data::AugmentOptions untouched(int crop = 64) {
  return {.crop = crop, .scale_low = 1, .scale_high = 1, .flip = 0, .jitter = 0, .blur = 0, .grey = 0};
}

inline train::SegmentOptions quick_options() {
  train::SegmentOptions options;
  options.batch = 2;
  options.encoder_rate = 1e-3;
  options.head_rate = 1e-2;
  options.seed = 3;
  options.augment = untouched();
  options.relabel.on = false;
  options.relabel.passes = 2;
  options.infer_batch = 2;
  return options;
}

inline bool never() { return false; }

// Tests spoil the loss of the steps they like.
class SpoiledTask : public train::SegmentTask {
 public:
  using SegmentTask::SegmentTask;
  train::Losses losses(const std::vector<data::Example>& batch, const train::Moment& now) override {
    train::Losses all = SegmentTask::losses(batch, now);
    if (spoil) spoil(now.step, all);
    return all;
  }
  std::function<void(int64_t step, train::Losses& losses)> spoil;
};

inline std::unique_ptr<SpoiledTask> task_of(const Scenes& scenes, const train::SegmentOptions& options, const Path& run,
                                            size_t val = 0, const std::string& ablation = "A6", double dropout = 0.1) {
  model::SegmenterConfig config = small_student(ablation, "U4", 3, dropout);
  return std::make_unique<SpoiledTask>(drawn(config), drawn(config), scenes.data(val), options, torch::kCPU, run);
}

// Three rounds in a run, whatever the teacher finds.
inline train::SegmentOptions relabelling() {
  train::SegmentOptions options = quick_options();
  options.relabel.on = true;
  options.relabel.from = 0.25;
  options.relabel.every = 0.3;
  options.relabel.found_at_least = 0;
  return options;
}

}  // namespace crisp::test
