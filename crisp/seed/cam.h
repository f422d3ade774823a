#pragma once

#include <vector>

#include "crisp/image/image.h"
#include "crisp/model/affinity_net.h"
#include "crisp/model/cam_classifier.h"
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
  SimilarityOptions similarity;
};

void check(const CamOptions& options);
std::vector<double> scales_for(const CamOptions& options, int width, int height);

// Class activation maps of photos (Zhou et al., 2016), as the field makes them: the classifier's map at several
// scales, ReLU, the larger of the photo and its mirror image, summed over scales, brought to the photo's size, and
// stretched to 0..1 for each class; unless switched off, spread over what the encoder finds alike. Several classifiers
// see different parts of an object: the mean of their maps, stretched. Only the tagged classes are ever brought to full
// size.
class CamMaker {
 public:
  CamMaker(std::vector<model::CamClassifier> classifiers, torch::Device device, torch::ScalarType dtype,
           CamOptions options);

  // Photos of one size form one batch; `tags` are class numbers from 1.
  std::vector<Cams> run(const std::vector<image::Image>& photos, const std::vector<std::vector<int>>& tags);

  const ClassNames& classes() const { return classifiers_[0]->config.classes; }

 private:
  std::vector<model::CamClassifier> classifiers_;
  const torch::Device device_;
  const torch::ScalarType dtype_;
  const CamOptions options_;
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
