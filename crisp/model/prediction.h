#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::model {

// What a segmentation network says, at 1/4 of the image's resolution. Tensors of parts that are switched
// off are undefined, but for `refined`, which is then `logits` itself.
struct Prediction {
  torch::Tensor logits;         // Z                        [N, K, h, w]
  torch::Tensor refined;        // Z* = Z + G * Delta       [N, K, h, w]
  torch::Tensor variance;       // sigma^2, f32             [N, K, h, w]
  torch::Tensor uncertainty;    // U_ale (or its stand-in)  [N, 1, h, w]
  torch::Tensor boundary;       // edge logits              [N, 1, h, w]
  torch::Tensor scale_weights;  // w_i                      [N, 4, h, w]
  torch::Tensor gate;           // G                        [N, 1, h, w]
  torch::Tensor fused;          // F                        [N, E, h, w]
};

// What changes from call to call of one network.
struct ForwardOptions {
  bool modulate = true;         // U-DMF, once training has switched it on
  bool detach_refiner = false;  // no gradient through the refiner's inputs (start of training)
  bool boundary = false;        // evaluate the boundary head (always in training mode)
  bool sample_dropout = false;  // dropout in evaluation mode too (MC-dropout)
  torch::Tensor tokens;         // what a frozen encoder says of these images, where it is known (vit_scales.h)
};

}  // namespace crisp::model
