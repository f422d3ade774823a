#include "crisp/loss/segmentation.h"

namespace crisp::loss {
namespace {

torch::Tensor weighted(const torch::Tensor& mask, const torch::Tensor& weight) {
  return weight.defined() ? mask * weight : mask;
}

}  // namespace

torch::Tensor weighted_cross_entropy(const torch::Tensor& cross_entropy, const Pixels& pixels,
                                     const torch::Tensor& weight) {
  return mean_over(cross_entropy * weighted(pixels.valid, weight), pixels.valid);
}

torch::Tensor soft_dice(const torch::Tensor& probabilities, const torch::Tensor& of_label, const Pixels& pixels,
                        const torch::Tensor& weight) {
  const torch::Tensor counted = weighted(pixels.valid, weight);           // M w
  const torch::Tensor common = sum_by_label(of_label * counted, pixels);  // each of these [K]
  const torch::Tensor predicted = (probabilities * counted.unsqueeze(1)).sum({2, 3}).sum(0);
  const torch::Tensor labelled = sum_by_label(counted, pixels);
  const torch::Tensor present = (sum_by_label(pixels.valid, pixels) > 0).to(torch::kFloat);
  const torch::Tensor loss = 1 - (2 * common + 1) / (predicted + labelled + 1);
  return mean_over(loss * present, present);
}

}  // namespace crisp::loss
