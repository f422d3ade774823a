#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "crisp/base/classes.h"
#include "crisp/data/feature_cache.h"
#include "crisp/image/image.h"
#include "crisp/model/vit_scales.h"

namespace crisp::feature {

struct StoreOptions {
  Path folder;                               // of the cache; empty: nothing is kept, and all is made again
  uint64_t most_bytes = uint64_t{40} << 30;  // the cache grows no larger
};

// A photo as its encoder is shown it.
struct Look {
  Path photo;
  bool mirrored = false;
};

// What a frozen encoder says of photos: out of a cache on disk where it has been asked before, else asked now. Many
// trainings on the same photos cost one pass over them. All functions are safe from several threads.
class Store {
 public:
  // One look's features take bytes_each() on disk.
  Store(std::shared_ptr<model::FrozenVit> vit, const model::VitView& view, torch::Device device, StoreOptions options);

  // [blocks, h, w, dim] in fp16. Errors name a photo that cannot be read.
  data::Features of(const Look& look);

  // Of several photos, [N, blocks, h, w, dim] fp16 on the CPU.
  torch::Tensor tokens(const std::vector<Path>& photos);

  // Asks about those looks that are not in the cache yet, while there is room; the rest is made whenever it is needed.
  // Says beforehand how many there are and how large they get. False when `stop` ended it early. A photo that cannot be
  // read is left to whoever needs it.
  bool prepare(const std::vector<Look>& looks, int workers, const std::function<bool()>& stop);

  // The SHA-256 of a photo's file.
  Sha256 photo_of(const Path& photo) { return key_of({photo, false}).photo; }

  uint64_t bytes_each() const;
  const std::shared_ptr<model::FrozenVit>& vit() const { return vit_; }
  const model::VitView& view() const { return view_; }

 private:
  data::FeatureKey key_of(const Look& look, std::string* bytes = nullptr);
  std::vector<uint16_t> ask(const image::Image& square);
  data::FeatureShape shape() const;

  const std::shared_ptr<model::FrozenVit> vit_;
  const model::VitView view_;
  const torch::Device device_;
  std::unique_ptr<data::FeatureCache> cache_;  // null: nothing is kept
  std::mutex network_;                         // one question at a time: it takes all threads by itself
  std::mutex names_;
  std::unordered_map<std::string, Sha256> photos_;  // by path, of this process
};

// What an encoder is shown of a photo.
image::Image square_of(const image::Image& photo, int64_t side, bool mirrored = false);

// [N, blocks, h, w, dim] fp16, copied.
torch::Tensor stacked(const std::vector<const data::Features*>& all);

// Photos as a segmenter takes them: pixels as its encoder is shown them, and what `store` knows of them. The store may
// be null: then tokens are undefined.
struct Input {
  torch::Tensor pixels, tokens;
};
Input input_of(const model::EncoderConfig& encoder, const std::vector<image::Image>& images,
               const std::vector<Path>& files, Store* store, torch::Device device);

// Mean and deviation of each block's channels over the tokens of some of the photos, evenly picked, [blocks, dim] each.
struct Moments {
  torch::Tensor mean, deviation;
};
Moments moments_of(Store& store, const std::vector<Path>& photos);

}  // namespace crisp::feature
