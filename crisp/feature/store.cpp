#include "crisp/feature/store.h"

#include <atomic>
#include <cstring>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/text.h"
#include "crisp/image/decode.h"
#include "crisp/image/resize.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/predictor.h"
#include "crisp/tensor/autocast.h"

namespace crisp::feature {
namespace {

constexpr size_t kMomentPhotos = 256;  // enough for means and deviations of single channels

data::FeatureFacts facts_of(const model::FrozenVit& vit, const model::VitView& view) {
  std::vector<std::string> blocks;
  for (const int64_t block : view.blocks) blocks.push_back(std::to_string(block));
  return {.weights = vit.sha256,
          .view = fmt::format("{} blocks {} at {}x{} in {}", vit.network->config.arch, join(blocks, ","), view.side,
                              view.side, vit.type == torch::kBFloat16 ? "bf16" : "f32")};
}

image::Image decoded(const std::string& bytes, const Path& photo) {
  return image::decode_image(std::as_bytes(std::span(bytes)), photo.string());
}

}  // namespace

image::Image square_of(const image::Image& photo, int64_t side, bool mirrored) {
  const int pixels = static_cast<int>(side);
  image::Image square = image::resize(photo, pixels, pixels);
  if (!mirrored) return square;
  for (int y = 0; y < pixels; ++y) {
    uint8_t* row = square.row(y);
    for (int left = 0, right = pixels - 1; left < right; ++left, --right) {
      std::swap_ranges(row + 3 * left, row + 3 * left + 3, row + 3 * right);
    }
  }
  return square;
}

torch::Tensor stacked(const std::vector<const data::Features*>& all) {
  const data::FeatureShape& s = all.at(0)->shape;
  const torch::Tensor tokens =
      torch::empty({static_cast<int64_t>(all.size()), s.maps, s.height, s.width, s.channels}, torch::kHalf);
  auto* to = static_cast<uint8_t*>(tokens.data_ptr());
  for (const data::Features* one : all) {
    if (one->shape != s) throw Error("features of different shapes in one batch");
    std::memcpy(to, one->values.data(), one->values.size_bytes());
    to += one->values.size_bytes();
  }
  return tokens;
}

Store::Store(std::shared_ptr<model::FrozenVit> vit, const model::VitView& view, torch::Device device,
             StoreOptions options)
    : vit_(std::move(vit)), view_(view), device_(device) {
  vit_->network->to(device_);
  if (options.folder.empty()) return;
  cache_ = std::make_unique<data::FeatureCache>(options.folder, facts_of(*vit_, view_), options.most_bytes);
}

data::FeatureShape Store::shape() const {
  const auto cells = static_cast<uint32_t>(view_.side / view_.patch);
  return {static_cast<uint32_t>(view_.blocks.size()), cells, cells, static_cast<uint32_t>(vit_->network->config.dim)};
}

uint64_t Store::bytes_each() const { return data::feature_bytes(shape()); }

data::FeatureKey Store::key_of(const Look& look, std::string* bytes) {
  const std::string name = look.photo.string();
  const uint32_t variant = look.mirrored ? 1 : 0;
  if (bytes == nullptr) {
    const std::lock_guard lock(names_);
    const auto known = photos_.find(name);
    if (known != photos_.end()) return {known->second, variant};
  }
  std::string read = read_text(look.photo);
  const Sha256 hash = sha256(read);
  if (bytes != nullptr) *bytes = std::move(read);
  const std::lock_guard lock(names_);
  photos_[name] = hash;
  return {hash, variant};
}

// One photo at a time: the same bits whoever else is asked about, in whatever order.
std::vector<uint16_t> Store::ask(const image::Image& square) {
  const std::lock_guard lock(network_);
  const torch::InferenceMode inference;
  const tensor::NoAutocast own_types(device_);
  const torch::Tensor pixels = infer::to_batch({square}, device_, vit_->network->pos_embed.scalar_type());
  std::vector<torch::Tensor> maps;
  for (const torch::Tensor& map : vit_->network->forward(pixels, view_.blocks)) {
    maps.push_back(map[0].permute({1, 2, 0}).to(torch::kHalf));
  }
  const torch::Tensor all = torch::stack(maps).to(torch::kCPU).contiguous();
  std::vector<uint16_t> values(static_cast<size_t>(all.numel()));
  std::memcpy(values.data(), all.const_data_ptr(), values.size() * sizeof(uint16_t));
  return values;
}

data::Features Store::of(const Look& look) {
  if (cache_) {
    if (auto found = cache_->find(key_of(look))) return *std::move(found);
  }
  std::string bytes;
  const data::FeatureKey key = key_of(look, &bytes);
  auto values =
      std::make_shared<std::vector<uint16_t>>(ask(square_of(decoded(bytes, look.photo), view_.side, look.mirrored)));
  if (cache_) cache_->add(key, shape(), *values);
  return {shape(), *values, values};
}

torch::Tensor Store::tokens(const std::vector<Path>& photos) {
  std::vector<data::Features> all;
  std::vector<const data::Features*> each;
  for (const Path& photo : photos) all.push_back(of({photo, false}));
  for (const data::Features& one : all) each.push_back(&one);
  return stacked(each);
}

bool Store::prepare(const std::vector<Look>& looks, int workers, const std::function<bool()>& stop) {
  if (!cache_) return true;
  std::vector<const Look*> open;
  for (const Look& look : looks) {
    try {
      if (!cache_->find(key_of(look))) open.push_back(&look);
    } catch (const Error&) {  // whoever needs it will say so
    }
    if (stop && stop()) return false;
  }
  if (open.empty()) {
    log_info("features: all {} are there ({})", looks.size(), format_bytes(cache_->bytes()));
    return true;
  }
  log_info("features of {} of {} photos by {}: {} each, {} to come", open.size(), looks.size(),
           vit_->file.filename().string(), format_bytes(bytes_each()), format_bytes(open.size() * bytes_each()));
  Progress progress("features", static_cast<int64_t>(open.size()));
  std::atomic<bool> full = false;
  infer::PhotoStages<std::vector<uint16_t>, size_t> stages;
  stages.read = [&](size_t index) {
    return square_of(image::read_image(open[index]->photo), view_.side, open[index]->mirrored);
  };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    return std::vector<std::vector<uint16_t>>{ask(group[0].image)};
  };
  stages.finish = [&](const infer::Photo& photo, std::vector<uint16_t>& values) {
    if (!cache_->add(key_of(*open[photo.index]), shape(), values)) full = true;
    return photo.index;
  };
  stages.done = [&](size_t) { progress.advance(); };
  stages.unreadable = [&](size_t, const std::string&) { progress.advance(); };
  infer::stream_photos(open.size(), {.workers = workers, .batch = 1, .stop = [&] { return full || (stop && stop()); }},
                       stages);
  progress.finish();
  if (full) {
    log_warning(
        "features: the cache is full ({}); the others are made again whenever they are needed, which takes "
        "longer; --cache-gb allows more",
        format_bytes(cache_->bytes()));
  }
  return full || !(stop && stop());
}

Input input_of(const model::EncoderConfig& encoder, const std::vector<image::Image>& images,
               const std::vector<Path>& files, Store* store, torch::Device device) {
  Input input{infer::as_seen(encoder, images, device, torch::kFloat), {}};
  if (store != nullptr) input.tokens = store->tokens(files).to(device);
  return input;
}

Moments moments_of(Store& store, const std::vector<Path>& photos) {
  const size_t step = std::max<size_t>(1, photos.size() / kMomentPhotos);
  torch::Tensor sum, squares;
  int64_t tokens = 0;
  for (size_t i = 0; i < photos.size(); i += step) {
    data::Features one;
    try {
      one = store.of({photos[i], false});
    } catch (const Error&) {  // the loader will name it
      continue;
    }
    const torch::Tensor values = stacked({&one})[0].to(torch::kDouble).flatten(1, 2);  // [blocks, tokens, dim]
    sum = sum.defined() ? sum + values.sum(1) : values.sum(1);
    squares = squares.defined() ? squares + values.square().sum(1) : values.square().sum(1);
    tokens += values.size(1);
  }
  if (tokens == 0) throw Error("not one of {} photos could be read", photos.size());
  const torch::Tensor mean = sum / tokens;
  const torch::Tensor deviation = (squares / tokens - mean.square()).clamp_min(1e-12).sqrt();
  return {mean.to(torch::kFloat), deviation.to(torch::kFloat)};
}

}  // namespace crisp::feature
