#include "crisp/seed/cam.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/foundation.h"
#include "crisp/tensor/seldom_sizes.h"

namespace crisp::seed {
namespace {

std::vector<float> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.to(torch::kCPU, torch::kFloat).contiguous();
  const float* data = plain.const_data_ptr<float>();
  return {data, data + plain.numel()};
}

// The side nearest to scale * size that is a multiple of `multiple`.
int64_t rounded_side(int64_t size, double scale, int multiple) {
  const double wanted = scale * static_cast<double>(size);
  return std::max<int64_t>(1, std::lround(wanted / multiple)) * multiple;
}

// The encoder's view of the photos, and after them of their mirror images, at one scale.
struct View {
  model::Features features;
  torch::Tensor maps;                           // of every class, ReLU applied
  int64_t height = 0, width = 0;                // of the scaled photos
  int64_t padded_height = 0, padded_width = 0;  // of what the network saw: sides under 32 are padded
};

View view_at(model::CamClassifierImpl& classifier, const torch::Tensor& images, double scale,
             const CamOptions& options) {
  const int64_t h = rounded_side(images.size(2), scale, options.multiple);
  const int64_t w = rounded_side(images.size(3), scale, options.multiple);
  torch::Tensor input = images;
  if (h != images.size(2) || w != images.size(3)) input = torch::upsample_bilinear2d(images, {h, w}, false);
  if (options.flip) input = torch::cat({input, input.flip(3)});
  const torch::Tensor padded = model::pad_to_smallest(input);
  const tensor::SeldomSizes seldom(padded);
  View view{classifier.encoder->forward(padded), {}, h, w, padded.size(2), padded.size(3)};
  view.maps = torch::relu(classifier.classifier->forward(view.features[3])).to(torch::kFloat);
  return view;
}

// Adds the maps of a view, brought to the photos' size, the tagged classes alone: [N] of [tags, H, W].
void add_maps(const View& view, const torch::Tensor& images, bool flip, const std::vector<torch::Tensor>& channels,
              std::vector<torch::Tensor>& sums) {
  const int64_t height = images.size(2), width = images.size(3);
  for (int64_t i = 0; i < images.size(0); ++i) {
    const auto& wanted = channels[static_cast<size_t>(i)];
    if (wanted.numel() == 0) continue;
    const auto full = [&](int64_t index) {
      const torch::Tensor chosen = view.maps[index].index_select(0, wanted).unsqueeze(0);
      if (view.padded_height == view.height && view.padded_width == view.width) {
        return torch::upsample_bilinear2d(chosen, {height, width}, false)[0];
      }
      const torch::Tensor whole = torch::upsample_bilinear2d(chosen, {view.padded_height, view.padded_width}, false);
      const torch::Tensor photo = whole.narrow(2, 0, view.height).narrow(3, 0, view.width);
      return torch::upsample_bilinear2d(photo, {height, width}, false)[0];
    };
    torch::Tensor map = full(i);
    if (flip) map = torch::maximum(map, full(images.size(0) + i).flip(2));
    torch::Tensor& sum = sums[static_cast<size_t>(i)];
    sum = sum.defined() ? sum + map : map;
  }
}

// C1 .. C3 of photo i, the mean of both directions, padding cut off.
std::vector<torch::Tensor> features_of(const View& view, int64_t i, int64_t photos, bool flip) {
  std::vector<torch::Tensor> features;
  for (size_t level = 0; level < 3; ++level) {
    const torch::Tensor& all = view.features[level];
    torch::Tensor one = all[i].to(torch::kFloat);
    const auto inside = [&](int64_t dim, int64_t side, int64_t padded) {
      return std::max<int64_t>(1, (one.size(dim) * side + padded - 1) / padded);
    };
    const int64_t rows = inside(1, view.height, view.padded_height), columns = inside(2, view.width, view.padded_width);
    one = one.narrow(1, 0, rows).narrow(2, 0, columns);
    if (flip) one = (one + all[photos + i].to(torch::kFloat).narrow(1, 0, rows).narrow(2, 0, columns).flip(2)) / 2;
    features.push_back(one);
  }
  return features;
}

// The maps of one classifier for a batch, the tagged classes alone, each 0..1: [N] of [tags, H, W], undefined without
// tags.
std::vector<torch::Tensor> maps_by(model::CamClassifierImpl& classifier, const torch::Tensor& images,
                                   const std::vector<torch::Tensor>& channels, const CamOptions& options) {
  const SimilarityOptions similarity = similarity_of(options, classifier.config.encoder);
  std::vector<torch::Tensor> all(channels.size());
  View nearest;  // to the photos' own size
  double distance = INFINITY;
  for (const double scale : scales_for(options, static_cast<int>(images.size(3)), static_cast<int>(images.size(2)))) {
    View view = view_at(classifier, images, scale, options);
    add_maps(view, images, options.flip, channels, all);
    if (std::abs(std::log(scale)) >= distance) continue;
    distance = std::abs(std::log(scale));
    nearest = std::move(view);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    torch::Tensor& maps = all[i];
    if (!maps.defined()) continue;
    if (similarity.on()) {
      const auto features = features_of(nearest, static_cast<int64_t>(i), images.size(0), options.flip);
      const torch::Tensor spread = spread_over_similar(maps, features, similarity);
      maps = torch::upsample_bilinear2d(spread.unsqueeze(0), {images.size(2), images.size(3)}, false)[0];
    }
    maps = stretched(maps);
  }
  return all;
}

}  // namespace

void check(const CamOptions& options) {
  for (const double scale : options.scales) {
    if (!(scale >= 0.05 && scale <= 8)) throw UsageError("--scales {}: a scale lies between 0.05 and 8", scale);
  }
  if (options.multiple < 1 || options.multiple > 256) {
    throw UsageError("--multiple {}: it lies between 1 and 256", options.multiple);
  }
  check(similarity_of(options, {}));
}

SimilarityOptions similarity_of(const CamOptions& options, const model::EncoderConfig& encoder, bool crossfit) {
  SimilarityOptions similarity;
  if (encoder.vit) similarity = {.power = 8, .rounds = 5, .centred = false};
  if (crossfit) similarity = {.power = 6, .rounds = 3, .centred = false};
  similarity.power = options.similarity.value_or(similarity.power);
  similarity.rounds = options.similarity_rounds.value_or(similarity.rounds);
  return similarity;
}

Background default_background(const model::EncoderConfig& encoder, bool crossfit, bool spread) {
  if (!encoder.vit || crossfit) return {.power = false, .value = 0.45};
  return {.power = false, .value = spread ? 0.5 : 0.4};
}

std::vector<double> scales_for(const CamOptions& options, int width, int height) {
  if (!options.scales.empty()) return options.scales;
  return std::max(width, height) < 400 ? std::vector<double>{1, 1.5, 2} : std::vector<double>{1, 0.5, 1.5};
}

CamMaker::CamMaker(std::vector<model::CamClassifier> classifiers, torch::Device device, torch::ScalarType dtype,
                   CamOptions options, std::shared_ptr<feature::Store> store)
    : classifiers_(std::move(classifiers)),
      device_(device),
      dtype_(dtype),
      options_(std::move(options)),
      store_(std::move(store)) {
  check(options_);
  if (classifiers_.empty()) throw UsageError("--classifier: activation maps need a tag classifier");
  for (model::CamClassifier& classifier : classifiers_) {
    if (classifier->config.classes != classes()) {
      throw Error("--classifier: the classifiers do not know the same classes: {} and {}", join_some(classes()),
                  join_some(classifier->config.classes));
    }
    const auto vit = model::frozen_of(*classifier->encoder), first = model::frozen_of(*classifiers_[0]->encoder);
    if (vit && first && vit->sha256 != first->sha256) {
      throw Error("--classifier: the classifiers stand on different frozen encoders, {} and {}", first->file.string(),
                  vit->file.string());
    }
    classifier->to(device_, vit ? torch::kFloat : dtype_);
    classifier->eval();
  }
}

// The maps of one photo on the grid of its tokens [blocks, h, w, dim]: one view of it, neither scales nor flips.
torch::Tensor CamMaker::grid_maps(model::CamClassifierImpl& classifier, const torch::Tensor& tokens, const Path& file,
                                  const torch::Tensor& channels) const {
  torch::Tensor maps;
  if (crossfit_ && !file.empty()) {
    std::vector<int> tags;
    for (int64_t k = 0; k < channels.numel(); ++k) tags.push_back(static_cast<int>(channels[k].item<int64_t>()) + 1);
    maps = crossfit_->judge(tokens, store_->photo_of(file), tags, has_background(classes()));
  }
  const SimilarityOptions similarity = similarity_of(options_, classifier.config.encoder, maps.defined());
  if (!maps.defined()) maps = torch::relu(classifier.maps({}, tokens.unsqueeze(0)))[0].index_select(0, channels);
  if (!similarity.on()) return maps;
  const torch::Tensor last = tokens[tokens.size(0) - 1].to(torch::kFloat).permute({2, 0, 1});
  return spread_over_similar(maps, {last}, similarity);
}

torch::Tensor CamMaker::grid_labels(const Path& file, const std::vector<int>& tags, double background) {
  const torch::InferenceMode inference;
  const torch::Tensor tokens = store_->tokens({file}).to(device_)[0];
  if (tags.empty()) return torch::zeros({tokens.size(1), tokens.size(2)}, torch::kByte);
  const torch::Tensor known = torch::tensor(std::vector<int64_t>(tags.begin(), tags.end()), torch::kLong).to(device_);
  const auto [most, which] = stretched(grid_maps(*classifiers_[0], tokens, file, known - 1)).max(0);
  const torch::Tensor best = known.index({which});
  const bool threshold = has_background(classes());
  return (threshold ? torch::where(most > background, best, 0) : best).to(torch::kCPU, torch::kByte);
}

std::vector<torch::Tensor> CamMaker::maps_of(model::CamClassifierImpl& classifier,
                                             const std::vector<image::Image>& photos, const std::vector<Path>& files,
                                             const std::vector<torch::Tensor>& channels) const {
  const model::EncoderConfig& encoder = classifier.config.encoder;
  if (!encoder.vit) return maps_by(classifier, infer::to_batch(photos, device_, dtype_), channels, options_);
  const bool known = store_ && !files.empty();
  const torch::Tensor tokens =
      known ? store_->tokens(files).to(device_)
            : model::vit_scales(*classifier.encoder)->ask(infer::as_seen(encoder, photos, device_, torch::kFloat));
  std::vector<torch::Tensor> all(photos.size());
  for (size_t i = 0; i < photos.size(); ++i) {
    if (channels[i].numel() == 0) continue;
    const torch::Tensor maps =
        grid_maps(classifier, tokens[static_cast<int64_t>(i)], known ? files[i] : Path(), channels[i]);
    all[i] = stretched(
        torch::upsample_bilinear2d(maps.unsqueeze(0), {photos[i].height, photos[i].width}, /*align_corners=*/false)[0]);
  }
  return all;
}

std::vector<Cams> CamMaker::run(const std::vector<image::Image>& photos, const std::vector<std::vector<int>>& tags,
                                const std::vector<Path>& files) {
  if (photos.empty()) return {};
  const torch::InferenceMode inference;
  std::vector<torch::Tensor> channels;
  for (const std::vector<int>& own : tags) {
    std::vector<int64_t> places;
    for (const int tag : own) places.push_back(tag - 1);
    channels.push_back(torch::tensor(places, torch::kLong).to(device_));
  }
  std::vector<torch::Tensor> maps = maps_of(*classifiers_[0], photos, files, channels);
  for (size_t c = 1; c < classifiers_.size(); ++c) {
    const std::vector<torch::Tensor> more = maps_of(*classifiers_[c], photos, files, channels);
    for (size_t i = 0; i < maps.size(); ++i) {
      if (maps[i].defined()) maps[i] += more[i];
    }
  }
  std::vector<Cams> all;
  for (size_t i = 0; i < photos.size(); ++i) {
    Cams cams{photos[i].width, photos[i].height, tags[i], {}, has_background(classes())};
    if (maps[i].defined()) cams.maps = to_vector(classifiers_.size() > 1 ? stretched(maps[i]) : maps[i]);
    all.push_back(std::move(cams));
  }
  return all;
}

AffinityMaker::AffinityMaker(model::AffinityNet network, torch::Device device, torch::ScalarType dtype)
    : network_(std::move(network)), device_(device), dtype_(dtype) {
  network_->to(device_, dtype_);
  network_->eval();
}

std::vector<AffinityFeatures> AffinityMaker::run(const std::vector<image::Image>& photos) {
  const torch::InferenceMode inference;
  constexpr int kMultiple = 32;  // as for the maps: few sizes
  torch::Tensor images = infer::to_batch(photos, device_, dtype_);
  const int64_t h = rounded_side(images.size(2), 1, kMultiple), w = rounded_side(images.size(3), 1, kMultiple);
  if (h != images.size(2) || w != images.size(3)) images = torch::upsample_bilinear2d(images, {h, w}, false);
  const tensor::SeldomSizes seldom(images);
  const torch::Tensor maps = network_->forward(images).to(torch::kFloat);
  std::vector<AffinityFeatures> all;
  for (int64_t i = 0; i < maps.size(0); ++i) {
    all.push_back({static_cast<int>(maps.size(1)), static_cast<int>(maps.size(3)), static_cast<int>(maps.size(2)),
                   to_vector(maps[i])});
  }
  return all;
}

}  // namespace crisp::seed
