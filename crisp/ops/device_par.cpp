#include "crisp/ops/device_par.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace crisp::ops {
namespace {

constexpr double kTiny = 1e-8;  // keeps flat neighbourhoods finite, as in AFA's code

// [offsets, 2]: dy, dx.
torch::Tensor neighbours(const std::vector<int>& dilations) {
  std::vector<int64_t> places;
  for (const int64_t d : dilations)
    for (const int64_t dy : {-d, int64_t{0}, d})
      for (const int64_t dx : {-d, int64_t{0}, d})
        if (dy != 0 || dx != 0) places.insert(places.end(), {dy, dx});
  return torch::tensor(places).reshape({-1, 2});
}

// The pixel that is the neighbour, [offsets * height * width]; outside the frame the nearest one inside.
torch::Tensor neighbour_pixels(const torch::Tensor& offsets, int64_t height, int64_t width, torch::Device device) {
  const torch::Tensor moved = offsets.to(torch::TensorOptions(device).dtype(torch::kInt));
  const auto whole = torch::TensorOptions(device).dtype(torch::kInt);
  const torch::Tensor rows = (torch::arange(height, whole) + moved.select(1, 0).unsqueeze(1)).clamp_(0, height - 1);
  const torch::Tensor columns = (torch::arange(width, whole) + moved.select(1, 1).unsqueeze(1)).clamp_(0, width - 1);
  return (rows.unsqueeze(2) * width + columns.unsqueeze(1)).flatten();
}

}  // namespace

torch::Tensor par_tensors(const torch::Tensor& rgb, const torch::Tensor& scores, const ParOptions& options) {
  const int64_t height = scores.size(1), width = scores.size(2), labels = scores.size(0);
  const torch::Tensor offsets = neighbours(options.dilations);
  const int64_t count = offsets.size(0);
  const torch::Tensor pixels = neighbour_pixels(offsets, height, width, scores.device());
  const auto around = [&](const torch::Tensor& planes) {
    return planes.index_select(1, pixels).reshape({planes.size(0), count, height * width});
  };

  const torch::Tensor image = rgb.to(scores.device(), torch::kFloat).reshape({3, height * width});
  const torch::Tensor colours = around(image);
  const torch::Tensor sharpness =
      ((colours.std(1, /*unbiased=*/true, /*keepdim=*/true) + kTiny) * options.w1).reciprocal();
  torch::Tensor weights = torch::softmax(((colours - image.unsqueeze(1)) * sharpness).square_().mean(0).neg_(), 0);
  const torch::Tensor distances = offsets.to(torch::kDouble).norm(2, 1);
  const torch::Tensor place = torch::softmax(-(distances / ((distances.std() + kTiny) * options.w1)).square(), 0);
  weights += (place * options.w2).to(weights.options()).unsqueeze(1);
  if (options.keep_sum) weights /= 1 + options.w2;

  torch::Tensor now = torch::nan_to_num(scores.to(torch::kFloat), 0, 0, 0).reshape({labels, height * width});
  for (int i = 0; i < options.iterations; ++i) now = around(now).mul_(weights).sum(1);
  return now.reshape({labels, height, width});
}

ParFunction par_on(torch::Device device) {
  if (device.is_cpu()) return par;
  return [device](std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> scores,
                  std::span<float> refined, const ParOptions& options) {
    const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
    if (pixels * options.dilations.size() * 8 * sizeof(float) > options.memory) {
      return par(rgb, width, height, labels, scores, refined, options);
    }
    const torch::InferenceMode inference;
    const c10::impl::VirtualGuardImpl streams(device.type());
    const c10::StreamGuard own(streams.getStreamFromGlobalPool(device, /*isHighPriority=*/false));
    const torch::Tensor image = torch::from_blob(const_cast<uint8_t*>(rgb.data()), {height, width, 3}, torch::kByte)
                                    .to(device)
                                    .permute({2, 0, 1});
    const torch::Tensor given = torch::from_blob(const_cast<float*>(scores.data()), {labels, height, width}).to(device);
    const torch::Tensor made = par_tensors(image, given, options).to(torch::kCPU);
    std::copy_n(made.const_data_ptr<float>(), refined.size(), refined.data());
  };
}

}  // namespace crisp::ops
