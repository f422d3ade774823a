#include "crisp/tensor/onednn.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "crisp/tensor/cpu_quirks.h"

namespace crisp::tensor {
namespace {

c10::IValue call(const char* name, std::vector<c10::IValue> arguments) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&arguments);
  return arguments.at(0);
}

}  // namespace

bool cpu_has_bf16() {
  avoid_hidden_amx();
  return call("mkldnn::_is_mkldnn_bf16_supported", {}).toBool();
}

torch::Tensor packed_weight(const torch::Tensor& weight, int64_t rows) {
  return call("mkldnn::_reorder_linear_weight", {weight.contiguous(), rows}).toTensor();
}

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& packed, const torch::Tensor& bias, After after) {
  const std::string activation = after == After::kGelu ? "gelu" : "none";  // the exact one, by erf
  return call("mkldnn::_linear_pointwise",
              {x, packed, bias, activation, c10::List<std::optional<at::Scalar>>(), std::string("none")})
      .toTensor();
}

}  // namespace crisp::tensor
