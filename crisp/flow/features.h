#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "crisp/data/dataset.h"
#include "crisp/feature/store.h"
#include "crisp/model/encoder.h"

// What commands share of a frozen encoder: one cache of its features, made once and read by every stage.
namespace crisp::flow {

struct FeatureOptions {
  Path folder;          // of the cache; empty: `features` beside the stage's own folder, so that stages share it
  double most_gb = 40;  // the cache grows no larger; 0: nothing is kept
};

void check(const FeatureOptions& options);

// The features of `vit` as `view` looks at photos, for a stage that writes `out`. An empty `out` and no folder in the
// options: nothing is kept.
std::shared_ptr<feature::Store> open_features(std::shared_ptr<model::FrozenVit> vit, const model::VitView& view,
                                              const FeatureOptions& options, const Path& out, torch::Device device);

// The same for a network that is loaded; null for one that stands on no frozen encoder.
std::shared_ptr<feature::Store> open_features(model::EncoderImpl& encoder, const FeatureOptions& options,
                                              const Path& out, torch::Device device);

// Sets a new network on the frozen encoder of `weights`, its file or a model on it; null where its encoder is none.
std::shared_ptr<feature::Store> begin_on(model::EncoderImpl& encoder, const Path& weights,
                                         const FeatureOptions& options, const Path& out, torch::Device device);

// Makes the features of photos that have none yet. False when `stop` ended it early.
bool make_features(feature::Store& store, const std::vector<std::vector<data::Sample>>& photos, int workers,
                   const std::function<bool()>& stop);

// The encoder's channels by their mean and deviation over the photos it is to learn from.
void standardise(model::EncoderImpl& encoder, feature::Store& store, const std::vector<data::Sample>& photos);

// A model finds its frozen encoder beside it, unless that is shipped: then this copies it into the run folder.
void keep_encoder(const feature::Store& store, const Path& run);

}  // namespace crisp::flow
