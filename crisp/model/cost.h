#pragma once

#include <string>
#include <vector>

#include "crisp/model/segmenter.h"

namespace crisp::model {

// Multiply-accumulates of convolutions, linear layers and attention products for one image; norms, biases,
// activations and upsampling are not counted.
struct PartCost {
  std::string name;        // "encoder stage 1", "fusion", "variance head", ...
  int64_t parameters = 0;  // trainable
  int64_t macs = 0;        // as the layers are written down: what papers report
  int64_t executed = 0;    // as our inference computes it, linear layers merged before upsampling
  bool encoder = false;    // or of what stands on it
};

std::vector<PartCost> cost_of(Segmenter& network, int64_t height, int64_t width);
PartCost total_of(const std::vector<PartCost>& parts, const std::string& name = "total");

}  // namespace crisp::model
