#include "crisp/model/cost.h"

#include <fmt/format.h>

#include "crisp/model/crispformer.h"
#include "crisp/model/mit.h"
#include "crisp/model/vit_scales.h"
#include "crisp/ops/propagate_kernel.h"

namespace crisp::model {
namespace {

int64_t parameters_of(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const torch::Tensor& p : module.parameters()) count += p.numel();
  return count;
}

PartCost part(const std::string& name, int64_t parameters, int64_t macs) { return {name, parameters, macs, macs}; }

// Tokens of each stage for an image of this size.
struct Grid {
  int64_t height, width;
  int64_t size() const { return height * width; }
};

int64_t stage_macs(const EncoderConfig& config, size_t i, const Grid& grid) {
  const int64_t tokens = grid.size(), dim = config.dims[i], r = config.reductions[i];
  const int64_t reduced = (grid.height / r) * (grid.width / r);
  const int64_t in = i == 0 ? 3 : config.dims[i - 1], kernel = i == 0 ? 7 : 3, hidden = config.mlp_ratio * dim;
  const int64_t attention = 2 * tokens * dim * dim        // q, proj
                            + reduced * dim * 2 * dim     // k, v
                            + 2 * tokens * reduced * dim  // q k^T, p v
                            + (r > 1 ? reduced * r * r * dim * dim : 0);
  const int64_t ffn = 2 * tokens * dim * hidden + tokens * hidden * 9;
  return tokens * kernel * kernel * in * dim + config.depths[i] * (attention + ffn);
}

// One part a stage; the sizes of their maps.
std::array<Grid, 4> add_mit(Segmenter& network, Grid grid, std::vector<PartCost>& parts) {
  const EncoderConfig& config = network->config.encoder;
  auto* encoder = network->encoder->as<MitImpl>();
  std::array<Grid, 4> grids{};
  for (size_t i = 0; i < 4; ++i) {
    const int64_t s = config.strides[i];
    grids[i] = grid = {(grid.height + s - 1) / s, (grid.width + s - 1) / s};
    parts.push_back(
        part(fmt::format("encoder stage {}", i + 1), parameters_of(*encoder->stages[i]), stage_macs(config, i, grid)));
  }
  return grids;
}

// A frozen ViT sees every photo as the same square; blocks after the last one that is used are not computed.
std::array<Grid, 4> add_vit(Segmenter& network, std::vector<PartCost>& parts) {
  const EncoderConfig& config = network->config.encoder;
  const VitView& view = config.vit.value();
  const VitConfig vit = vit_config(config.arch);
  const int64_t side = view.side / vit.patch, tokens = 1 + side * side, d = vit.dim, fine = side * view.fine;
  const int64_t patch = 3 * vit.patch * vit.patch * d, block = (4 + 2 * vit.mlp_ratio) * d * d;
  const int64_t small = (4 + 3 + 1 + vit.mlp_ratio + 1 + 2) * d;  // norms, biases, layer scales
  const int64_t parameters =
      patch + d + (2 + vit.grid * vit.grid) * d + vit.depth * (block + small) + 2 * d;  // class token, positions, norm
  parts.push_back(part(fmt::format("{} (frozen)", config.arch), parameters,
                       side * side * patch + view.blocks.back() * tokens * (block + 2 * tokens * d)));
  const int64_t half = view.detail / 2, cells = fine * fine;
  parts.push_back(
      part("detail branch", parameters_of(*network->encoder), 9 * (4 * cells * 3 * half + cells * half * view.detail)));
  return {Grid{fine, fine}, Grid{side, side}, Grid{side, side}, Grid{side, side}};
}

}  // namespace

std::vector<PartCost> cost_of(Segmenter& network, int64_t height, int64_t width) {
  const EncoderConfig& encoder = network->config.encoder;
  const HeadConfig& head = network->config.head;
  std::vector<PartCost> parts;
  const std::array<Grid, 4> grids = encoder.vit ? add_vit(network, parts) : add_mit(network, {height, width}, parts);
  for (PartCost& one : parts) one.encoder = true;
  const int64_t pixels = grids[0].size(), e = head.width, k = head.classes;
  int64_t projection = 0;
  for (size_t i = 0; i < 4; ++i) projection += grids[i].size() * encoder.dims[i] * e;
  const auto small_head = [&](int64_t in, int64_t out) { return pixels * (9 * in * head.hidden + head.hidden * out); };

  if (network->propagation) {
    const auto cells = [&](int64_t side) {
      return output_cells(encoder, head, encoder.vit ? encoder.vit->side : side);
    };
    const int64_t walk = head.propagate * ops::kPropagateNeighbours * k;  // and the weights: a dozen operations each
    parts.push_back(part("propagation", parameters_of(*network->propagation),
                         pixels * e + cells(height) * cells(width) * (walk + 12 * ops::kPropagateNeighbours)));
  }
  const auto children = network->head->named_children();
  const auto count = [&](const std::string& name) { return parameters_of(*children[name]); };
  if (head.kind == HeadKind::kSegformer) {
    parts.push_back(part("projection", count("proj"), projection));
    // Merged weights (W_i P_i) replace both: the fusion costs only their product.
    int64_t merging = 0;
    for (const int64_t dim : encoder.dims) merging += e * e * dim;
    parts.push_back({"fusion", count("fuse") + count("norm"), pixels * 4 * e * e, merging});
    parts.push_back(part("classifier", count("classifier"), pixels * e * k));
    return parts;
  }
  parts.push_back(part("projection", count("project"), projection));
  if (head.fusion == Fusion::kDmf) {
    int64_t low = 0;
    for (const Grid& g : grids) low += g.size() * e;
    PartCost dmf{"dynamic fusion", count("score"), 4 * pixels * e, low};
    const auto* decoder = dynamic_cast<const CrispformerHeadImpl*>(network->head.get());
    if (decoder != nullptr && decoder->modulation.defined()) dmf.parameters += decoder->modulation.numel();
    parts.push_back(dmf);
  } else if (head.fusion == Fusion::kConcat) {
    parts.push_back(part("fusion", count("concat"), pixels * 4 * e * e));
  }
  parts.push_back(part("classifier", count("classifier"), pixels * e * k));
  if (head.variance) parts.push_back(part("variance head", count("variance"), small_head(e, k)));
  if (head.refine) {
    parts.push_back(part("refiner", count("refine"), small_head(e + k + 1, k) + pixels * (e + 1)));
  }
  // Trained with the rest, skipped at inference unless asked for.
  if (head.boundary) parts.push_back({"boundary head", count("boundary"), small_head(e, 1), 0});
  return parts;
}

PartCost total_of(const std::vector<PartCost>& parts, const std::string& name) {
  PartCost total{name};
  for (const PartCost& p : parts) {
    total.parameters += p.parameters;
    total.macs += p.macs;
    total.executed += p.executed;
  }
  return total;
}

}  // namespace crisp::model
