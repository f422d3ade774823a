#pragma once

#include "crisp/base/files.h"
#include "crisp/seed/posterior.h"

namespace crisp::seed {

// Class activation maps as the field's public code saves them, a pickled dict in a .npy file:
//   {class: [H, W], ...}                                  (PSA, SEAM, MCTformer)
//   {"keys": [n], "cam" | "high_res" | "attn_highres": [n, h, w]}   (IRN and its heirs; the largest is taken)
// Classes are counted without the background there; `first` is what their 0 is called here. Maps are brought to
// width x height; values are clipped at 0, and divided by their maximum where that exceeds 1. Our own
// cams/ID.safetensors is read too, by the class numbers in it.
Cams read_cam_file(const Path& path, int width, int height, int classes, int first = 1);

}  // namespace crisp::seed
