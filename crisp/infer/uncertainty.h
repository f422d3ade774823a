#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::infer {

// -sum p log p over log K, [..., K, h, w] -> [..., h, w].
torch::Tensor relative_entropy(const torch::Tensor& log_probabilities);

// A map [h, w] brought to 0..1 between its 1st and 99th percentile; a flat map counts as 0.
torch::Tensor normalise_percentiles(const torch::Tensor& map);

// What users see as uncertainty: half aleatoric, half entropy, each normalised over the image; the entropy
// alone where the network has no variance head (`aleatoric` undefined).
torch::Tensor mixed_uncertainty(const torch::Tensor& aleatoric, const torch::Tensor& entropy);

}  // namespace crisp::infer
