#include "crisp/ops/weighted_upsample.h"

#include <algorithm>
#include <vector>

#include "crisp/ops/weighted_upsample_kernel.h"
#include "crisp/tensor/cuda.h"

namespace crisp::ops {
namespace {

bool needs_gradient(at::ArrayRef<torch::Tensor> maps, const torch::Tensor& weights) {
  if (!torch::GradMode::is_enabled()) return false;
  return (weights.defined() && weights.requires_grad()) ||
         std::any_of(maps.begin(), maps.end(), [](const torch::Tensor& map) { return map.requires_grad(); });
}

bool has_kernel(const torch::Tensor& map) {
  if (map.is_cpu()) return map.scalar_type() == torch::kFloat;
  return map.is_cuda() && tensor::built_with_cuda() && map.size(1) % 8 == 0;  // 8 channels a thread
}

}  // namespace

torch::Tensor weighted_upsample_reference(at::ArrayRef<torch::Tensor> maps, const torch::Tensor& weights, bool relu) {
  const auto size = maps[0].sizes().slice(2);
  torch::Tensor sum;
  for (size_t i = 0; i < maps.size(); ++i) {
    torch::Tensor map =
        maps[i].sizes().slice(2) == size ? maps[i] : torch::upsample_bilinear2d(maps[i], size, /*align_corners=*/false);
    if (weights.defined()) map = map * weights.narrow(1, static_cast<int64_t>(i), 1).to(map.scalar_type());
    sum = sum.defined() ? sum + map : map;
  }
  return relu ? sum.relu() : sum;
}

torch::Tensor weighted_upsample(at::ArrayRef<torch::Tensor> maps, const torch::Tensor& weights, bool relu) {
  TORCH_CHECK(!maps.empty() && (!weights.defined() || weights.size(1) == static_cast<int64_t>(maps.size())),
              "weighted_upsample: one weight map a scale is needed");
  if (needs_gradient(maps, weights) || !has_kernel(maps[0])) return weighted_upsample_reference(maps, weights, relu);

  std::vector<torch::Tensor> kept;
  std::vector<UpsampleMap> raw;
  for (const torch::Tensor& map : maps) {
    kept.push_back(map.contiguous(torch::MemoryFormat::ChannelsLast));
    raw.push_back({kept.back().const_data_ptr(), map.size(2), map.size(3)});
  }
  const torch::Tensor w = weights.defined() ? weights.to(torch::kFloat).contiguous() : torch::Tensor();
  const torch::Tensor out = torch::empty(maps[0].sizes(), maps[0].options(), torch::MemoryFormat::ChannelsLast);
  const UpsampleProblem problem{raw.data(),
                                static_cast<int>(raw.size()),
                                w.defined() ? w.const_data_ptr<float>() : nullptr,
                                out.size(0),
                                out.size(1),
                                relu};
#ifdef CRISP_CUDA
  if (out.is_cuda()) {
    const auto type = out.scalar_type() == torch::kHalf       ? UpsampleType::kHalf
                      : out.scalar_type() == torch::kBFloat16 ? UpsampleType::kBfloat16
                                                              : UpsampleType::kFloat;
    weighted_upsample_cuda(problem, type, out.mutable_data_ptr(), tensor::current_stream(out.device()));
    return out;
  }
#endif
  at::parallel_for(0, out.size(0) * out.size(2), 1, [&](int64_t first, int64_t last) {
    weighted_upsample_rows_cpu(problem, out.mutable_data_ptr<float>(), first, last);
  });
  return out;
}

}  // namespace crisp::ops
