#include "crisp/loss/total.h"

#include <fmt/ranges.h>

#include <cmath>

#include "crisp/base/error.h"
#include "crisp/loss/boundary.h"
#include "crisp/loss/edge_weight.h"
#include "crisp/loss/edges.h"
#include "crisp/loss/heteroscedastic.h"
#include "crisp/loss/segmentation.h"
#include "crisp/loss/surface.h"

namespace crisp::loss {
namespace {

// -1 stands for any size.
void check_shape(const char* name, const torch::Tensor& tensor, std::vector<int64_t> expected) {
  bool same = tensor.dim() == static_cast<int64_t>(expected.size());
  for (size_t i = 0; same && i < expected.size(); ++i) {
    same = expected[i] < 0 || tensor.size(static_cast<int64_t>(i)) == expected[i];
  }
  if (same) return;
  throw Error("{} of the loss is [{}], expected [{}] (-1: any)", name, fmt::join(tensor.sizes().vec(), ", "),
              fmt::join(expected, ", "));
}

void check_shapes(const Outputs& outputs, const Targets& targets) {
  if (!outputs.refined.defined() || !targets.labels.defined()) throw Error("the loss needs refined logits and labels");
  check_shape("refined", outputs.refined, {-1, -1, -1, -1});
  const int64_t batch = outputs.refined.size(0), classes = outputs.refined.size(1);
  check_shape("labels", targets.labels, {batch, -1, -1});
  const std::vector<int64_t> map = targets.labels.sizes().vec();
  if (outputs.logits.defined()) check_shape("logits", outputs.logits, {batch, classes, -1, -1});
  if (outputs.variance.defined()) check_shape("variance", outputs.variance, {batch, classes, -1, -1});
  if (outputs.boundary.defined()) check_shape("boundary", outputs.boundary, {batch, 1, -1, -1});
  if (targets.band.defined()) check_shape("band", targets.band, map);
  if (targets.distance.defined()) check_shape("distance", targets.distance, map);
}

// Adds up the parts that are on.
class Sum {
 public:
  explicit Sum(const torch::Tensor& like) : total_{torch::zeros({}, like.options().dtype(torch::kFloat)), {}} {}

  void add(const char* name, double weight, const torch::Tensor& value) {
    total_.sum = total_.sum + weight * value;
    total_.parts.push_back({name, value.detach()});
  }
  Total take() { return std::move(total_); }

 private:
  Total total_;
};

void need(const torch::Tensor& target, const char* name, const char* part) {
  if (!target.defined()) throw Error("the {} loss is on but its target, {}, is missing", part, name);
}

}  // namespace

void check(const Options& options) {
  const std::pair<const char*, double> weights[] = {{"cross-entropy", options.cross_entropy},
                                                    {"Dice", options.dice},
                                                    {"heteroscedastic", options.heteroscedastic},
                                                    {"boundary", options.boundary},
                                                    {"surface", options.surface},
                                                    {"uncertainty", options.weight.strength},
                                                    {"edge", options.edges}};
  for (const auto& [name, weight] : weights) {
    if (!std::isfinite(weight) || weight < 0) throw UsageError("the weight of the {} loss cannot be {}", name, weight);
  }
  if (!(options.edge_reach > 0 && options.edge_reach < kEdgeLimit)) {
    throw UsageError("--edge-reach {}: it lies between 0 and {} pixels", options.edge_reach, kEdgeLimit);
  }
}

Total total(const Outputs& outputs, const Targets& targets, const Options& options) {
  check_shapes(outputs, targets);
  const int64_t height = targets.labels.size(1), width = targets.labels.size(2);
  const Pixels pixels = pixels_of(targets.labels, outputs.refined.size(1));
  const auto log_probabilities = [&](const torch::Tensor& logits) {
    return torch::log_softmax(upsampled(logits, height, width), 1);  // [N, K, H, W]
  };

  torch::Tensor weight;  // w [N, H, W]; undefined: 1
  if (options.weighting) {
    const torch::Tensor uncertainty = uncertainty_map(outputs.refined, outputs.variance, options.weight);
    if (uncertainty.defined()) weight = uncertainty_weight(uncertainty, height, width, options.weight.strength);
  }

  torch::Tensor counts = weight;  // how much a pixel counts in cross-entropy and Dice
  if (options.edges > 0) {
    need(targets.distance, "the distance to edges", "edge-weighted");
    const torch::Tensor near = edge_weight(targets.distance, pixels, options.edges, options.edge_reach);
    counts = weight.defined() ? weight * near : near;
  }

  Sum sum(outputs.refined);
  const torch::Tensor refined = log_probabilities(outputs.refined);
  const torch::Tensor cross_entropy = pixel_cross_entropy(refined, pixels);
  if (options.cross_entropy > 0) {
    sum.add("cross_entropy", options.cross_entropy, weighted_cross_entropy(cross_entropy, pixels, counts));
  }
  if (options.dice > 0 || options.surface > 0) {
    const torch::Tensor probabilities = refined.exp();
    if (options.dice > 0) {
      const torch::Tensor of_label = (-cross_entropy).exp();
      sum.add("dice", options.dice, soft_dice(probabilities, of_label, pixels, counts));
    }
    if (options.surface > 0) {
      need(targets.distance, "the distance to edges", "surface");
      torch::Tensor known;  // undefined: every pixel
      if (!options.surface_everywhere) {
        need(targets.band, "the boundary band", "surface");
        known = (targets.band <= 1).to(torch::kFloat);
      }
      sum.add("surface", options.surface, surface(probabilities, targets.distance, known));
    }
  }
  if (options.heteroscedastic > 0 && outputs.logits.defined() && outputs.variance.defined()) {
    // Without a refiner Z* is Z, and so is its cross-entropy.
    const bool unrefined = outputs.logits.is_same(outputs.refined);
    const torch::Tensor plain =
        unrefined ? cross_entropy : pixel_cross_entropy(log_probabilities(outputs.logits), pixels);
    const auto variance = options.label_variance ? label_variance : mean_variance;
    const torch::Tensor value = heteroscedastic(plain, variance(outputs.variance, pixels), pixels);
    sum.add("heteroscedastic", options.heteroscedastic, value);
  }
  if (options.boundary > 0 && outputs.boundary.defined()) {
    need(targets.band, "the boundary band", "boundary");
    const torch::Tensor logits = upsampled(outputs.boundary, height, width).squeeze(1);
    const torch::Tensor value = boundary(logits, targets.band, options.discount_boundary ? weight : torch::Tensor());
    sum.add("boundary", options.boundary, value);
  }
  return sum.take();
}

}  // namespace crisp::loss
