#include "crisp/loss/pixels.h"

namespace crisp::loss {

Pixels pixels_of(const torch::Tensor& labels, int64_t classes) {
  const torch::Tensor index = labels.to(torch::kLong);
  const torch::Tensor valid = index < classes;
  return {.index = index * valid, .valid = valid.to(torch::kFloat), .classes = classes};
}

torch::Tensor upsampled(const torch::Tensor& maps, int64_t height, int64_t width) {
  // Softmax over classes is quickest, by far, when each class is a plane of its own; the small maps are turned.
  torch::Tensor planes = maps.to(torch::kFloat).contiguous();
  if (planes.size(2) == height && planes.size(3) == width) return planes;
  return torch::upsample_bilinear2d(planes, {height, width}, /*align_corners=*/false);
}

torch::Tensor pixel_cross_entropy(const torch::Tensor& log_probabilities, const Pixels& pixels) {
  return -log_probabilities.gather(1, pixels.index.unsqueeze(1)).squeeze(1);
}

torch::Tensor sum_by_label(const torch::Tensor& values, const Pixels& pixels) {
  // Rows first: on a GPU millions of additions to K numbers would queue, and in f32 long sums lose digits.
  const int64_t rows = values.size(0) * values.size(1);
  const torch::Tensor first = torch::arange(rows, pixels.index.options()).unsqueeze(1) * pixels.classes;
  const torch::Tensor bin = (pixels.index.view({rows, -1}) + first).flatten();
  const torch::Tensor sums = torch::zeros({rows * pixels.classes}, values.options());
  return sums.index_add(0, bin, values.flatten()).view({rows, pixels.classes}).sum(0);
}

torch::Tensor mean_over(const torch::Tensor& values, const torch::Tensor& count) {
  return values.sum() / count.sum().clamp_min(1);
}

}  // namespace crisp::loss
