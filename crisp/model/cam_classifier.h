#pragma once

#include <string>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/model/mit.h"

namespace crisp::model {

// How a map of class scores becomes one score a class. The mean asks for the whole photo to look like the class; the
// maximum and the mean of the best cells ask for its most telling part, whatever the object's size; the mean weighted
// by the class's own share of each cell asks for a mask (normalised global weighted pooling, Araslanov and Roth, 2020).
enum class Pooling { kAverage, kMaximum, kTopCells, kWeighted };

std::string name_of(Pooling pooling);  // "average", "max", "top", "weighted"
Pooling parse_pooling(const std::string& name);

struct CamClassifierConfig {
  EncoderConfig encoder;  // with the strides of set_map_stride
  Pooling pooling = Pooling::kAverage;
  double top_share = 0.2;  // of the cells, for kTopCells
  ClassNames classes;      // with the background, which has no score: a photo's tags never name it
};

// The tag classifier: MiT, one 1x1 convolution without bias, pooling. Since the convolution is linear and has no
// bias, its map is the class activation map (Zhou et al., 2016) whose pooled value is the score.
struct CamClassifierImpl : torch::nn::Module {
  explicit CamClassifierImpl(const CamClassifierConfig& config);

  // Scores of the classes 1 .. K-1: [N, K-1, ceil(H/stride), ceil(W/stride)]. Sides of at least 32.
  torch::Tensor maps(const torch::Tensor& images);

  // `photo` [N, 1, H, W] is 1 on the photo and 0 on padding, which takes no part; undefined: all is photo.
  torch::Tensor forward(const torch::Tensor& images, const torch::Tensor& photo = {});  // -> logits [N, K-1]
  torch::Tensor pool(const torch::Tensor& maps, const torch::Tensor& photo) const;

  const CamClassifierConfig config;
  Mit encoder{nullptr};
  Conv classifier{nullptr};
};
TORCH_MODULE(CamClassifier);

// Pixels a cell of the maps: 32 as in the encoder's own shape, 16 with the last stage at stride 1, 8 with the last two.
void set_map_stride(EncoderConfig& config, int64_t stride);
int64_t map_stride(const EncoderConfig& config);

// The encoder as the classifier uses it.
EncoderConfig classifier_encoder(const std::string& arch, int64_t stride = 16);

CamClassifier load_classifier(const Path& file_or_run);
void save_classifier(const Path& path, const CamClassifier& network);

}  // namespace crisp::model
