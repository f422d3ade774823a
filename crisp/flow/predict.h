#pragma once

#include <set>
#include <string>
#include <vector>

#include "crisp/flow/outputs.h"
#include "crisp/image/limits.h"
#include "crisp/infer/predictor.h"

namespace crisp::flow {

struct PredictOptions {
  Path out;
  ClassNames classes;                             // for legends and shares, as many as the model has
  std::set<std::string> save{"mask", "overlay"};  // of mask, overlay, uncertainty, boundary, logits
  int64_t batch = 1;
  int workers = 2;  // threads that decode and encode beside the network
  image::DecodeLimits limits;
};

struct ImageReport {
  std::string file, name;
  int width = 0, height = 0;
  std::vector<double> class_shares;  // of the image's pixels
  double mean_uncertainty = 0, mean_entropy = 0, network_ms = 0;
};

struct SkippedImage {
  std::string file, reason;
};

struct PredictReport {
  std::vector<ImageReport> images;  // in the order given
  std::vector<SkippedImage> skipped;
  double seconds = 0;
};

// Segments every image and writes OUT/mask/NAME.png, OUT/overlay/NAME.png, ... as asked. Decoding, the
// network and encoding overlap; a handful of images is in memory at any time, however many there are. An image
// that cannot be read is skipped and reported; an output that cannot be written is an Error.
PredictReport predict(infer::Predictor& predictor, const std::vector<InputImage>& images,
                      const PredictOptions& options);

}  // namespace crisp::flow
