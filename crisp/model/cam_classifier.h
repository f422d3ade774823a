#pragma once

#include <string>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/model/encoder.h"
#include "crisp/model/layers.h"
#include "crisp/model/mit.h"

namespace crisp::model {

// How a map of class scores becomes one score a class. The mean asks for the whole photo to look like the class; the
// maximum and the mean of the best cells ask for its most telling part, whatever the object's size; the mean weighted
// by the class's own share of each cell asks for a mask (normalised global weighted pooling, Araslanov and Roth, 2020).
// `kBoth` is half the mean of the best cells, half the mean of all.
enum class Pooling { kAverage, kMaximum, kTopCells, kWeighted, kBoth };

std::string name_of(Pooling pooling);  // "average", "max", "top", "weighted", "both"
Pooling parse_pooling(const std::string& name);

struct CamClassifierConfig {
  EncoderConfig encoder;  // with the strides of set_map_stride
  Pooling pooling = Pooling::kAverage;
  double top_share = 0.2;  // of the cells, for kTopCells and kBoth
  ClassNames classes;      // with the background, which has no score: a photo's tags never name it
};

// The tag classifier: an encoder, one 1x1 convolution of its last map, pooling. Since the convolution is linear, its
// map is the class activation map (Zhou et al., 2016) whose pooled value is the score. On MiT it has no bias; on a
// frozen ViT, where it is all that learns, it has one, and starts from saying of every class that it is not there.
struct CamClassifierImpl : torch::nn::Module, Drawn {
  explicit CamClassifierImpl(const CamClassifierConfig& config);

  // Scores of the classes 1 .. K-1: [N, K-1, ceil(H/stride), ceil(W/stride)]. Sides of at least 32. `tokens`: what a
  // frozen encoder says of the images, where it is known; these are then not looked at.
  torch::Tensor maps(const torch::Tensor& images, const torch::Tensor& tokens = {});

  // `photo` [N, 1, H, W] is 1 on the photo and 0 on padding, which takes no part; undefined: all is photo.
  torch::Tensor forward(const torch::Tensor& images, const torch::Tensor& photo = {},
                        const torch::Tensor& tokens = {});  // -> logits [N, K-1]
  torch::Tensor pool(const torch::Tensor& maps, const torch::Tensor& photo) const;

  void draw() override;

  const CamClassifierConfig config;
  std::shared_ptr<EncoderImpl> encoder;
  Conv classifier{nullptr};
};
TORCH_MODULE(CamClassifier);

// Pixels a cell of the maps: 32 as in the encoder's own shape, 16 with the last stage at stride 1, 8 with the last two.
void set_map_stride(EncoderConfig& config, int64_t stride);
int64_t map_stride(const EncoderConfig& config);

// The encoder as the classifier uses it; `stride` is MiT's.
EncoderConfig classifier_encoder(const std::string& arch, int64_t stride = 16);

CamClassifier load_classifier(const Path& file_or_run);
void save_classifier(const Path& path, const CamClassifier& network);

}  // namespace crisp::model
