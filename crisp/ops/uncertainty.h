#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::ops {

// -sum p log p over log K, [..., K, h, w] -> [..., h, w].
torch::Tensor relative_entropy(const torch::Tensor& log_probabilities);

// Where a map's 0 and 1 lie: its 1st and 99th percentile, or its least and largest value.
enum class Range { kPercentiles, kMinMax };

// Maps [..., h, w], each by itself brought to 0..1 and clipped. A flat map, one whose range is under 1e-6 (both
// maps we know, sigma^2 and the relative entropy, are of size 1), counts as 0: rounding is no uncertainty.
// Percentile p is the value of rank floor(p (h w - 1)). The host never waits for the device.
torch::Tensor normalise_maps(const torch::Tensor& maps, Range range = Range::kPercentiles);

// U = mean over the given maps of normalise_maps(map); undefined maps (a network without that source) are left out.
// At least one is defined, and all have one shape [..., h, w].
torch::Tensor mixed_uncertainty(at::ArrayRef<torch::Tensor> maps, Range range = Range::kPercentiles);

}  // namespace crisp::ops
