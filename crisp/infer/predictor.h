#pragma once

#include <vector>

#include "crisp/image/image.h"
#include "crisp/infer/tiling.h"
#include "crisp/model/segmenter.h"

namespace crisp::infer {

struct InferOptions {
  std::vector<double> scales{1.0};  // times the network's zoom; the mean of probabilities is taken of several
  bool flip = false;                // each scale also mirrored
  // Photos with more than kLargest times the long side of those the network learned from are worked on at that size:
  // objects many times as large as it has ever seen are none to it. Not with tiles. On a frozen ViT every photo becomes
  // its square, and so does every tile.
  bool full_size = false;  // as they are, all the same
  TileOptions tiling;
  bool boundary = false;  // evaluate the boundary head
};

inline constexpr double kLargest = 2;

// Throws UsageError for scales that make no sense.
void check(const InferOptions& options);

// What the network says about one image; tensors on the CPU, f32.
struct Result {
  image::Mask labels;
  torch::Tensor
      logits;  // Z* [K, h, w], at 1/4 of the photo as the network saw it; undefined with several scales or flips
  torch::Tensor probabilities;  // mean over scales and flips [K, H, W]; undefined for a single pass
  torch::Tensor uncertainty;    // U, 0..1, per-image normalised    [h, w] or [H, W]
  torch::Tensor boundary;       // probability of an edge           [h, w] or [H, W]; undefined unless asked for
  double mean_uncertainty = 0;
  double mean_entropy = 0;  // entropy over log K: 0..1, comparable between images
};

// Images to masks: single pass, multi-scale + flip, tiles. Owns nothing but the network.
class Predictor {
 public:
  // Moves the network to the device and dtype and into evaluation mode.
  Predictor(model::Segmenter network, torch::Device device, torch::ScalarType dtype, InferOptions options);

  // Images of one size form one batch; the caller groups them. `tokens` [N, blocks, h, w, dim]: what the network's
  // frozen encoder says of them as they are, for whoever has kept it.
  std::vector<Result> run(const std::vector<image::Image>& images, const torch::Tensor& tokens = {});

  const model::SegmenterConfig& config() const { return network_->config; }

 private:
  torch::Tensor input(const std::vector<image::Image>& images, double scale) const;
  double fit(const torch::Tensor& images) const;  // the scale at which photos are worked on
  model::Prediction forward(const torch::Tensor& input, const torch::Tensor& tokens);
  model::Prediction forward_tile(const torch::Tensor& tile, const model::ForwardOptions& how);
  std::vector<Result> single_pass(const std::vector<image::Image>& images, const torch::Tensor& tokens);
  std::vector<Result> multi_scale(const std::vector<image::Image>& images, const torch::Tensor& tokens);

  model::Segmenter network_;
  torch::Device device_;
  torch::ScalarType dtype_;
  InferOptions options_;
};

// Pixels as the encoder wants them: [N, H, W, 3] uint8 to [N, 3, H, W] f32, minus ImageNet's mean, over its
// deviation, channels-last.
torch::Tensor normalised(const torch::Tensor& pixels);

// The same from images of one size.
torch::Tensor to_batch(const std::vector<image::Image>& images, torch::Device device, torch::ScalarType dtype);

// Images at another scale, antialiased; the images themselves at 1.
torch::Tensor rescaled(const torch::Tensor& images, double scale);

// Photos as a network's encoder is shown them: as they are, or on a frozen ViT brought to its square. Of one size.
torch::Tensor as_seen(const model::EncoderConfig& encoder, const std::vector<image::Image>& photos,
                      torch::Device device, torch::ScalarType dtype);

}  // namespace crisp::infer
