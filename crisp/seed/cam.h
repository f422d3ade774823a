#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crisp/feature/store.h"
#include "crisp/image/image.h"
#include "crisp/model/affinity_net.h"
#include "crisp/model/cam_classifier.h"
#include "crisp/seed/crossfit.h"
#include "crisp/seed/posterior.h"
#include "crisp/seed/refine.h"
#include "crisp/seed/similarity.h"

namespace crisp::seed {

struct CamOptions {
  std::vector<double> scales;  // empty: 1, 0.5, 1.5, or 1, 1.5, 2 for photos under 400 pixels
  bool flip = true;
  // Scaled sides are rounded to a multiple of this, so that a folder of photos comes in a few sizes: a GPU's library
  // plans every convolution anew for every size it has not seen (half a second a photo, measured). 1: exact sizes.
  int multiple = 32;
  // Of SimilarityOptions; nothing: what measurement speaks for on the classifier's encoder (docs/method.md).
  std::optional<double> similarity;
  std::optional<int> similarity_rounds;
};

// `crossfit`: of what a Crossfit says instead of a classifier's maps.
SimilarityOptions similarity_of(const CamOptions& options, const model::EncoderConfig& encoder, bool crossfit = false);

// The background that goes with these maps, where nobody names one. `spread`: over what looks alike.
Background default_background(const model::EncoderConfig& encoder, bool crossfit = false, bool spread = true);

void check(const CamOptions& options);
std::vector<double> scales_for(const CamOptions& options, int width, int height);

// Class activation maps of photos (Zhou et al., 2016), as the field makes them: the classifier's map at several
// scales, ReLU, the larger of the photo and its mirror image, summed over scales, brought to the photo's size, and
// stretched to 0..1 for each class; unless switched off, spread over what the encoder finds alike. Several classifiers
// see different parts of an object: the mean of their maps, stretched. Only the tagged classes are ever brought to full
// size. On a frozen ViT there is one
// view of a photo, whose tokens may be known already; neither scales nor flips count.
class CamMaker {
 public:
  // `store`: of the frozen encoder that the classifiers stand on; else null.
  CamMaker(std::vector<model::CamClassifier> classifiers, torch::Device device, torch::ScalarType dtype,
           CamOptions options, std::shared_ptr<feature::Store> store = nullptr);

  // Photos of one size form one batch; `tags` are class numbers from 1. `files`: the photos', for the store;
  // without them it is not asked.
  std::vector<Cams> run(const std::vector<image::Image>& photos, const std::vector<std::vector<int>>& tags,
                        const std::vector<Path>& files = {});

  // On a frozen ViT: the labels of one photo on the grid of its tokens, u8 [h, w].
  torch::Tensor grid_labels(const Path& file, const std::vector<int>& tags, double background);

  // From now on maps are what this says, and a classifier's only where it cannot tell. Needs a store.
  void judge_by(std::shared_ptr<const Crossfit> crossfit) { crossfit_ = std::move(crossfit); }

  const std::shared_ptr<feature::Store>& store() const { return store_; }
  const model::EncoderConfig& encoder() const { return classifiers_[0]->config.encoder; }

  const ClassNames& classes() const { return classifiers_[0]->config.classes; }

 private:
  std::vector<torch::Tensor> maps_of(model::CamClassifierImpl& classifier, const std::vector<image::Image>& photos,
                                     const std::vector<Path>& files, const std::vector<torch::Tensor>& channels) const;
  torch::Tensor grid_maps(model::CamClassifierImpl& classifier, const torch::Tensor& tokens, const Path& file,
                          const torch::Tensor& channels) const;

  std::vector<model::CamClassifier> classifiers_;
  const torch::Device device_;
  const torch::ScalarType dtype_;
  const CamOptions options_;
  const std::shared_ptr<feature::Store> store_;
  std::shared_ptr<const Crossfit> crossfit_;
};

// Features of photos of one size for the affinity walk.
class AffinityMaker {
 public:
  AffinityMaker(model::AffinityNet network, torch::Device device, torch::ScalarType dtype);
  std::vector<AffinityFeatures> run(const std::vector<image::Image>& photos);

 private:
  model::AffinityNet network_;
  const torch::Device device_;
  const torch::ScalarType dtype_;
};

}  // namespace crisp::seed
