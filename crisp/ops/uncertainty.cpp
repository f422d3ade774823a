#include "crisp/ops/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"

namespace crisp::ops {

torch::Tensor relative_entropy(const torch::Tensor& log_probabilities) {
  const int64_t classes = std::max<int64_t>(log_probabilities.size(-3), 2);
  return -(log_probabilities.exp() * log_probabilities).sum(-3) / std::log(static_cast<double>(classes));
}

torch::Tensor normalise_maps(const torch::Tensor& maps, Range range) {
  const torch::Tensor flat = maps.flatten(-2);  // [..., h w]
  const auto percentile = [&](double share) {
    const auto rank = static_cast<int64_t>(std::floor(share * static_cast<double>(flat.size(-1) - 1)));
    return std::get<0>(flat.kthvalue(rank + 1, -1, /*keepdim=*/true)).unsqueeze(-1);
  };
  const bool extremes = range == Range::kMinMax;
  const torch::Tensor low = extremes ? maps.amin({-2, -1}, true) : percentile(0.01);
  const torch::Tensor span = (extremes ? maps.amax({-2, -1}, true) : percentile(0.99)) - low;
  // A flat map is divided by 1 and then multiplied by 0.
  const torch::Tensor varies = span > 1e-6;
  return ((maps - low) / torch::where(varies, span, 1.0)).clamp(0, 1) * varies;
}

torch::Tensor mixed_uncertainty(at::ArrayRef<torch::Tensor> maps, Range range) {
  torch::Tensor sum;
  int count = 0;
  for (const torch::Tensor& map : maps) {
    if (!map.defined()) continue;
    const torch::Tensor one = normalise_maps(map, range);
    sum = count == 0 ? one : sum + one;
    ++count;
  }
  if (count == 0) throw Error("a mixed uncertainty needs at least one map");
  return sum / count;
}

}  // namespace crisp::ops
