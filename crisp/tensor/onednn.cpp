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

namespace {

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const c10::IValue& bias,
                     const std::string& activation) {
  return call("mkldnn::_linear_pointwise",
              {x, weight, bias, activation, c10::List<std::optional<at::Scalar>>(), std::string("none")})
      .toTensor();
}

}  // namespace

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& packed, const torch::Tensor& bias, After after) {
  return linear(x, packed, bias, after == After::kGelu ? "gelu" : "none");  // the exact one, by erf
}

torch::Tensor product_of_rows(const torch::Tensor& a, const torch::Tensor& b) { return linear(a, b, {}, "none"); }

}  // namespace crisp::tensor
