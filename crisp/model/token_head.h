#pragma once

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/model/layers.h"

namespace crisp::model {

// Two linear layers that say of each token of a frozen ViT, by itself, which class it belongs to.
struct TokenHeadImpl : torch::nn::Module, Drawn {
  TokenHeadImpl(int64_t dim, int64_t classes);  // with the background

  torch::Tensor forward(const torch::Tensor& tokens);  // [..., dim] -> logits [..., K]; dropout 0.1 in training
  void draw() override;                                // mean 0, deviation 1; the layers draw themselves

  torch::Tensor mean, deviation;  // [dim], buffers: of the tokens learned from
  torch::Tensor photos;           // [K] i64, a buffer: how many of the photos learned from were tagged with each class
  Linear hidden{nullptr}, scores{nullptr};
};
TORCH_MODULE(TokenHead);

void save_token_head(const Path& file, const TokenHead& head, const ClassNames& classes);
// An error where the file was learned for other classes.
TokenHead load_token_head(const Path& file, const ClassNames& classes);

}  // namespace crisp::model
