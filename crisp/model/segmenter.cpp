#include "crisp/model/segmenter.h"

#include "crisp/model/crispformer.h"
#include "crisp/model/segformer_head.h"

namespace crisp::model {
namespace {

torch::Tensor crop(const torch::Tensor& map, int64_t height, int64_t width) {
  return map.defined() ? map.narrow(2, 0, height).narrow(3, 0, width) : map;
}

}  // namespace

SegmenterImpl::SegmenterImpl(const SegmenterConfig& config_) : config(config_) {
  encoder = register_module("encoder", Mit(config.encoder));
  if (config.head.kind == HeadKind::kSegformer) {
    head = register_module("head", std::make_shared<SegformerHeadImpl>(config.encoder, config.head));
  } else {
    head = register_module("head", std::make_shared<CrispformerHeadImpl>(config.encoder, config.head));
  }
}

Prediction SegmenterImpl::forward(const torch::Tensor& images, const ForwardOptions& options) {
  const int64_t height = images.size(2), width = images.size(3);
  const torch::Tensor padded = pad_to_smallest(images);
  if (padded.is_same(images)) return head->forward(encoder->forward(images), options);
  Prediction p = head->forward(encoder->forward(padded), options);
  for (torch::Tensor* map :
       {&p.logits, &p.refined, &p.variance, &p.uncertainty, &p.boundary, &p.scale_weights, &p.gate, &p.fused}) {
    *map = crop(*map, (height + 3) / 4, (width + 3) / 4);
  }
  return p;
}

Segmenter make_segmenter(const SegmenterConfig& config) {
  Segmenter network(config);
  draw_weights(*network);
  return network;
}

}  // namespace crisp::model
