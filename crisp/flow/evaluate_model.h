#pragma once

#include <set>
#include <string>
#include <vector>

#include "crisp/feature/store.h"
#include "crisp/flow/evaluate.h"
#include "crisp/image/limits.h"
#include "crisp/infer/predictor.h"

namespace crisp::flow {

struct ModelOptions {
  metric::Options metric;
  bool certainty = true;       // ECE, Brier, NLL: probabilities at full resolution
  std::set<std::string> save;  // of mask, uncertainty: kept as OUT/mask/NAME.png, OUT/uncertainty/NAME.png
  Path out;
  int64_t batch = 1;
  int workers = 2;  // threads that decode, score and write beside the network
  image::DecodeLimits limits;
  feature::Store* store = nullptr;  // of the network's frozen encoder, for whoever has one
};

// Runs the network over the photos of `truth` and scores as it goes: decoding, the network and scoring overlap,
// and a handful of images is in memory at any time. A photo that cannot be read is skipped and reported. Error
// when the model's classes are not those of the truth.
Evaluation evaluate_model(infer::Predictor& predictor, const Truth& truth, const ModelOptions& options);

// Throws Error unless both lists are as long and, where the same names occur in both, in the same order; names
// that differ otherwise ("tv" and "tvmonitor") are a warning.
void check_classes(const ClassNames& model, const ClassNames& truth);

// softmax over K of logits [K, h, w] brought to [K, height, width] (bilinear, half-pixel centres), in plain loops
// of one thread: it runs beside the network, whose thread pool it must not disturb.
std::vector<float> full_probabilities(const torch::Tensor& logits, int64_t height, int64_t width);

}  // namespace crisp::flow
