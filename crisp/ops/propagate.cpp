#include "crisp/ops/propagate.h"

#include <vector>

#include "crisp/ops/propagate_kernel.h"
#include "crisp/tensor/cuda.h"

namespace crisp::ops {
namespace {

constexpr std::array<int64_t, 4> kMargin = {kPropagateReach, kPropagateReach, kPropagateReach, kPropagateReach};

torch::Tensor moved(const torch::Tensor& padded, const Offset& offset, int64_t height, int64_t width) {
  return padded.narrow(2, kPropagateReach + offset.dy, height).narrow(3, kPropagateReach + offset.dx, width);
}

torch::Tensor transposed_reference(torch::Tensor gradient, const torch::Tensor& weights, int64_t steps) {
  const std::vector<Offset>& offsets = propagate_offsets();
  const int64_t h = gradient.size(2), w = gradient.size(3);
  for (int64_t step = 0; step < steps; ++step) {
    const torch::Tensor padded = torch::zeros(
        {gradient.size(0), gradient.size(1), h + 2 * kPropagateReach, w + 2 * kPropagateReach}, gradient.options());
    for (size_t i = 0; i < offsets.size(); ++i) {
      moved(padded, offsets[i], h, w).addcmul_(weights.narrow(1, static_cast<int64_t>(i), 1), gradient);
    }
    gradient = torch::replication_pad2d_backward(padded, gradient, kMargin);
  }
  return gradient;
}

torch::Tensor run(const torch::Tensor& scores, const torch::Tensor& weights, int64_t steps, bool transposed) {
  const bool has_kernel = scores.is_cpu() || (scores.is_cuda() && tensor::built_with_cuda() && steps > 0);
  if (!has_kernel) {
    return transposed ? transposed_reference(scores, weights, steps) : propagate_reference(scores, weights, steps);
  }
  const torch::Tensor in = scores.contiguous();
  torch::Tensor out = torch::empty_like(in);
  const PropagateProblem problem{.weights = weights.const_data_ptr<float>(),
                                 .labels = in.size(1),
                                 .height = in.size(2),
                                 .width = in.size(3),
                                 .steps = steps,
                                 .transposed = transposed};
#ifdef CRISP_CUDA
  if (in.is_cuda()) {
    torch::Tensor scratch = torch::empty_like(in);
    propagate_cuda(problem, in.size(0), in.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
                   scratch.mutable_data_ptr<float>(), tensor::current_stream(in.device()));
    return out;
  }
#endif
  at::parallel_for(0, in.size(0) * in.size(1), 1, [&](int64_t first, int64_t last) {
    propagate_planes_cpu(problem, in.const_data_ptr<float>(), out.mutable_data_ptr<float>(), first, last);
  });
  return out;
}

struct Propagate : torch::autograd::Function<Propagate> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& scores,
                               const torch::Tensor& weights, int64_t steps) {
    context->save_for_backward({weights});
    context->saved_data["steps"] = steps;
    return run(scores, weights, steps, /*transposed=*/false);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const torch::Tensor weights = context->get_saved_variables()[0];
    return {run(gradients[0], weights, context->saved_data["steps"].toInt(), /*transposed=*/true), {}, {}};
  }
};

}  // namespace

torch::Tensor propagation_weights(const torch::Tensor& colours, double sharpness) {
  const torch::NoGradGuard no_gradient;
  const int64_t photos = colours.size(0), channels = colours.size(1), h = colours.size(2), w = colours.size(3);
  if (!colours.is_cpu() || w < kPropagateLanes) return propagation_weights_reference(colours, sharpness);
  const torch::Tensor in = colours.to(torch::kFloat).contiguous();
  torch::Tensor out = torch::empty({photos, kPropagateNeighbours, h, w}, in.options());
  for (int64_t n = 0; n < photos; ++n) {
    const WidePhoto photo = widened(in.const_data_ptr<float>() + n * channels * h * w, channels, h, w);
    float* weights = out.mutable_data_ptr<float>() + n * kPropagateNeighbours * h * w;
    at::parallel_for(0, h, 8, [&](int64_t first, int64_t last) {
      propagation_weights_cpu(photo, static_cast<float>(sharpness), weights, first, last);
    });
  }
  return out;
}

torch::Tensor propagation_weights_reference(const torch::Tensor& colours, double sharpness) {
  const torch::NoGradGuard no_gradient;
  const int64_t h = colours.size(2), w = colours.size(3);
  const torch::Tensor here = colours.to(torch::kFloat), padded = torch::replication_pad2d(here, kMargin);
  std::vector<torch::Tensor> each;
  each.reserve(propagate_offsets().size());
  for (const Offset& offset : propagate_offsets()) each.push_back(moved(padded, offset, h, w));
  const torch::Tensor around = torch::stack(each, 1);  // [N, 32, C, h, w]
  const torch::Tensor deviation = around.std(1, /*unbiased=*/true, /*keepdim=*/true).mul_(sharpness).add_(1e-5);
  const torch::Tensor unlike = (around - here.unsqueeze(1)).div_(deviation).square_().mean(2);
  return torch::softmax(unlike.neg_(), 1).contiguous();
}

torch::Tensor propagate_reference(const torch::Tensor& scores, const torch::Tensor& weights, int64_t steps) {
  const std::vector<Offset>& offsets = propagate_offsets();
  torch::Tensor now = scores;
  for (int64_t step = 0; step < steps; ++step) {
    const torch::Tensor padded = torch::replication_pad2d(now, kMargin);
    now = torch::zeros_like(now);
    for (size_t i = 0; i < offsets.size(); ++i) {
      now = torch::addcmul(now, weights.narrow(1, static_cast<int64_t>(i), 1),
                           moved(padded, offsets[i], now.size(2), now.size(3)));
    }
  }
  return now;
}

torch::Tensor propagate(const torch::Tensor& scores, const torch::Tensor& weights, int64_t steps) {
  TORCH_CHECK(scores.dim() == 4 && weights.dim() == 4 && weights.size(1) == kPropagateNeighbours &&
                  scores.size(0) == weights.size(0) && scores.sizes().slice(2) == weights.sizes().slice(2),
              "propagate: scores ", scores.sizes(), " and weights ", weights.sizes(),
              " are not of the same photos, or not of ", kPropagateNeighbours, " neighbours");
  return Propagate::apply(scores.to(torch::kFloat), weights, steps);
}

}  // namespace crisp::ops
