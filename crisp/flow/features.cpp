#include "crisp/flow/features.h"

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/resources.h"
#include "crisp/model/foundation.h"

namespace crisp::flow {
namespace {

constexpr double kGigabyte = 1e9;

}  // namespace

void check(const FeatureOptions& options) {
  if (!(options.most_gb >= 0 && options.most_gb <= 1e6)) {
    throw UsageError("--cache-gb {}: gigabytes of disk for features, 0 to keep none", options.most_gb);
  }
}

std::shared_ptr<feature::Store> open_features(std::shared_ptr<model::FrozenVit> vit, const model::VitView& view,
                                              const FeatureOptions& options, const Path& out, torch::Device device) {
  check(options);
  feature::StoreOptions how{.folder = options.folder,
                            .most_bytes = static_cast<uint64_t>(std::llround(options.most_gb * kGigabyte))};
  if (how.folder.empty() && !out.empty()) how.folder = std::filesystem::absolute(out).parent_path() / "features";
  if (how.most_bytes == 0) how.folder.clear();
  return std::make_shared<feature::Store>(std::move(vit), view, device, how);
}

std::shared_ptr<feature::Store> open_features(model::EncoderImpl& encoder, const FeatureOptions& options,
                                              const Path& out, torch::Device device) {
  const model::VitScalesImpl* scales = model::vit_scales(encoder);
  if (scales == nullptr) return nullptr;
  return open_features(scales->vit(), *scales->config.vit, options, out, device);
}

std::shared_ptr<feature::Store> begin_on(model::EncoderImpl& encoder, const Path& weights,
                                         const FeatureOptions& options, const Path& out, torch::Device device) {
  model::VitScalesImpl* scales = model::vit_scales(encoder);
  if (scales == nullptr) return nullptr;
  if (weights.empty()) {
    throw UsageError("--init none: {} is used as it was learned, and not trained; give its weights",
                     scales->config.arch);
  }
  scales->stand_on(model::load_foundation(weights));
  return open_features(encoder, options, out, device);
}

bool make_features(feature::Store& store, const std::vector<std::vector<data::Sample>>& photos, int workers,
                   const std::function<bool()>& stop) {
  std::vector<feature::Look> looks;
  for (const std::vector<data::Sample>& some : photos) {
    for (const data::Sample& sample : some) looks.push_back({sample.image, false});
  }
  return store.prepare(looks, workers, stop);
}

void standardise(model::EncoderImpl& encoder, feature::Store& store, const std::vector<data::Sample>& photos) {
  std::vector<Path> files;
  for (const data::Sample& sample : photos) files.push_back(sample.image);
  const feature::Moments moments = feature::moments_of(store, files);
  model::vit_scales(encoder)->standardise_by(moments.mean, moments.deviation);
}

void keep_encoder(const feature::Store& store, const Path& run) {
  const Path& file = store.vit()->file;
  const Path shipped = shipped_weights(file.filename().string());
  if (!shipped.empty() && sha256_of_file(shipped) == store.vit()->sha256) return;
  const Path beside = run / file.filename();
  if (std::filesystem::exists(beside) && sha256_of_file(beside) == store.vit()->sha256) return;
  write_atomic(beside, read_text(file));
}

}  // namespace crisp::flow
