#include "crisp/model/segmenter.h"

#include "crisp/model/crispformer.h"
#include "crisp/model/mit.h"
#include "crisp/model/segformer_head.h"

namespace crisp::model {
namespace {

torch::Tensor crop(const torch::Tensor& map, int64_t height, int64_t width) {
  return map.defined() ? map.narrow(2, 0, height).narrow(3, 0, width) : map;
}

}  // namespace

SegmenterImpl::SegmenterImpl(const SegmenterConfig& config_) : config(config_) {
  encoder = register_module("encoder", make_encoder(config.encoder));
  if (config.head.kind == HeadKind::kSegformer) {
    head = register_module("head", std::make_shared<SegformerHeadImpl>(config.encoder, config.head));
  } else {
    head = register_module("head", std::make_shared<CrispformerHeadImpl>(config.encoder, config.head));
  }
  if (config.head.propagate > 0) {
    propagation = register_module("propagation", Propagation(config.head.width, config.head.propagate));
  }
}

Prediction SegmenterImpl::forward(const torch::Tensor& images, const ForwardOptions& options) {
  const int64_t height = images.size(2), width = images.size(3);
  const torch::Tensor padded = config.encoder.vit ? images : pad_to_smallest(images);
  const Features features = encoder->forward(padded, options.tokens);
  Prediction p = head->forward(features, options);
  propagate(padded, p);
  if (padded.is_same(images)) return p;
  for (torch::Tensor* map :
       {&p.logits, &p.refined, &p.variance, &p.uncertainty, &p.boundary, &p.scale_weights, &p.gate, &p.fused}) {
    *map = crop(*map, (height + 3) / 4, (width + 3) / 4);
  }
  return p;
}

void SegmenterImpl::propagate(const torch::Tensor& images, Prediction& said) {
  if (!propagation) return;
  const int64_t rows = output_cells(config.encoder, config.head, images.size(2));
  const int64_t columns = output_cells(config.encoder, config.head, images.size(3));
  said.refined = propagation->forward(images, said.fused, said.refined, rows, columns);
  for (torch::Tensor* map : {&said.variance, &said.uncertainty}) {
    if (map->defined()) *map = upsample(*map, {rows, columns});
  }
}

Segmenter make_segmenter(const SegmenterConfig& config) {
  Segmenter network(config);
  draw_weights(*network);
  return network;
}

}  // namespace crisp::model
