#include "crisp/ops/device_par.h"

#include "crisp/ops/par_kernel.h"
#include "crisp/tensor/cuda.h"

namespace crisp::ops {

#ifdef CRISP_CUDA
namespace {

ParProblem problem_of(int width, int height, int labels, const ParOptions& options) {
  ParProblem problem{};
  problem.height = height;
  problem.width = width;
  problem.labels = labels;
  problem.count = static_cast<int>(options.dilations.size());
  std::copy(options.dilations.begin(), options.dilations.end(), problem.dilations);
  problem.w1 = options.w1;
  problem.scale = options.keep_sum ? 1 / (1 + options.w2) : 1;
  problem.iterations = options.iterations;
  return problem;
}

void par_on_gpu(torch::Device device, std::span<const uint8_t> rgb, int width, int height, int labels,
                std::span<const float> scores, std::span<float> refined, const ParOptions& options) {
  const torch::InferenceMode inference;
  ParProblem problem = problem_of(width, height, labels, options);
  const auto floats = torch::TensorOptions(device).dtype(torch::kFloat);
  const std::vector<float> place = par_place_weights(options);
  const torch::Tensor places = torch::tensor(place).to(device);
  const torch::Tensor image =
      torch::from_blob(const_cast<uint8_t*>(rgb.data()), {height, width, 3}, torch::kByte).to(device);
  torch::Tensor now = torch::from_blob(const_cast<float*>(scores.data()), {labels, height, width}).to(device);
  now = torch::nan_to_num(now, 0, 0, 0);
  torch::Tensor other = torch::empty_like(now);
  torch::Tensor weights = torch::empty({8 * problem.count, height, width}, floats);
  problem.rgb = image.const_data_ptr<uint8_t>();
  problem.place = places.const_data_ptr<float>();
  problem.weights = weights.mutable_data_ptr<float>();
  const float* made =
      par_cuda(problem, now.mutable_data_ptr<float>(), other.mutable_data_ptr<float>(), tensor::current_stream(device));
  const torch::Tensor result = (made == now.const_data_ptr<float>() ? now : other).to(torch::kCPU);
  std::copy_n(result.const_data_ptr<float>(), refined.size(), refined.data());
}

}  // namespace
#endif

ParFunction par_on([[maybe_unused]] torch::Device device) {
#ifdef CRISP_CUDA
  if (device.is_cuda()) {
    return [device](std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> scores,
                    std::span<float> refined, const ParOptions& options) {
      check_par(rgb, width, height, labels, scores, refined, options);
      const size_t weights = rgb.size() / 3 * options.dilations.size() * 8 * sizeof(float);
      if (weights > options.memory || options.dilations.size() > kMostDilations) {
        return par(rgb, width, height, labels, scores, refined, options);
      }
      par_on_gpu(device, rgb, width, height, labels, scores, refined, options);
    };
  }
#endif
  return par;
}

}  // namespace crisp::ops
