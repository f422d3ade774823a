#include "crisp/model/token_head.h"

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::model {
namespace {

constexpr int64_t kHidden = 256;
constexpr double kDropout = 0.1;
constexpr const char* kClasses = "classes";  // in the file's metadata

std::string class_list(const ClassNames& classes) { return join(classes, "\n"); }

}  // namespace

TokenHeadImpl::TokenHeadImpl(int64_t dim, int64_t classes)
    : mean(register_buffer("mean", torch::empty({dim}))),
      deviation(register_buffer("deviation", torch::empty({dim}))),
      photos(register_buffer("photos", torch::zeros({classes}, torch::kLong))),
      hidden(register_module("hidden", Linear(dim, kHidden))),
      scores(register_module("scores", Linear(kHidden, classes))) {}

void TokenHeadImpl::draw() {
  mean.zero_();
  deviation.fill_(1);
}

torch::Tensor TokenHeadImpl::forward(const torch::Tensor& tokens) {
  const torch::Tensor standard = (tokens.to(mean.options()) - mean) / deviation;
  const torch::Tensor seen = torch::dropout(standard, kDropout, is_training());
  return scores->forward(torch::gelu(hidden->forward(seen)));
}

void save_token_head(const Path& file, const TokenHead& head, const ClassNames& classes) {
  tensor::write_safetensors(file, tensor::state_of(*head), {{kClasses, class_list(classes)}});
}

TokenHead load_token_head(const Path& file, const ClassNames& classes) {
  const tensor::NamedTensors read = tensor::read_safetensors(file);
  const auto mean = read.tensors.find("mean");
  const auto learned = read.metadata.find(kClasses);
  if (mean == read.tensors.end() || learned == read.metadata.end()) {
    throw Error("{}: holds no head on tokens; remove it, and it is learned again", file.string());
  }
  if (learned->second != class_list(classes)) {
    throw Error("{}: was learned for other classes; remove it, and it is learned again", file.string());
  }
  TokenHead head(mean->second.numel(), static_cast<int64_t>(classes.size()));
  tensor::load_into(*head, read.tensors, file.string());
  head->eval();
  return head;
}

}  // namespace crisp::model
