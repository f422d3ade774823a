#pragma once

#include <vector>

#include "crisp/tensor/onednn.h"

namespace crisp::model {

struct VitImpl;

// A plain vision transformer laid out once for passes on the CPU: weights in oneDNN's own order and in one type, GELU
// inside the product before it, layer scales inside the weights after which they stand, and one sweep over memory for
// adding a branch and normalising the sum.
class PackedVit {
 public:
  PackedVit(const VitImpl& vit, torch::ScalarType type);

  // What VitImpl::forward promises, for checked arguments; `positions` [1, 1 + H*W, D].
  std::vector<torch::Tensor> forward(const torch::Tensor& images, const torch::Tensor& positions,
                                     const std::vector<int64_t>& wanted) const;

 private:
  struct Product {
    torch::Tensor operator()(const torch::Tensor& x, tensor::After after = tensor::After::kNothing) const {
      return tensor::product(x, weight, bias, after);
    }
    torch::Tensor weight, bias;
  };
  struct Norm {
    torch::Tensor weight, bias;
  };
  struct Block {
    Norm norm1, norm2;
    Product qkv, proj, fc1, fc2;
  };

  Product packed(const torch::Tensor& weight, const torch::Tensor& bias, const torch::Tensor& scale = {}) const;
  torch::Tensor start(const torch::Tensor& images, const torch::Tensor& positions) const;
  torch::Tensor add_and_norm(const torch::Tensor& x, const torch::Tensor& branch, const Norm& norm) const;
  torch::Tensor attention(const torch::Tensor& qkv) const;

  const torch::ScalarType type_;
  const int64_t dim_, heads_, patch_;
  const double eps_;
  torch::Tensor class_token_;
  Product patches_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace crisp::model
