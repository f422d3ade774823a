#pragma once

#include <memory>

#include "crisp/base/classes.h"
#include "crisp/model/config.h"
#include "crisp/model/encoder.h"
#include "crisp/model/head.h"
#include "crisp/model/propagation.h"

namespace crisp::model {

// Everything that says what a network is.
struct SegmenterConfig {
  EncoderConfig encoder;
  HeadConfig head;
  ClassNames classes;
};

// Encoder and head. The constructor only allocates: use make_segmenter() or load_segmenter(). Normalised images in, a
// Prediction at 1/4 resolution (rounded up; on a frozen ViT at that of output_cells()) out.
struct SegmenterImpl : torch::nn::Module {
  explicit SegmenterImpl(const SegmenterConfig& config);

  // images [N, 3, H, W] of any size, on a ViT of sides that are multiples of its patch; sides under 32 are padded by
  // edge replication and the result cropped.
  Prediction forward(const torch::Tensor& images, const ForwardOptions& options = {});

  // Lets Z* follow the photo, where the network has learned to; `images` as the encoder saw them. forward() does so.
  void propagate(const torch::Tensor& images, Prediction& said);

  const SegmenterConfig config;
  std::shared_ptr<EncoderImpl> encoder;
  std::shared_ptr<HeadImpl> head;
  Propagation propagation{nullptr};
};
TORCH_MODULE(Segmenter);

// A network with freshly drawn weights (from torch's generator).
Segmenter make_segmenter(const SegmenterConfig& config);

}  // namespace crisp::model
