#include "crisp/tensor/device.h"

#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::tensor {

torch::Device parse_device(const std::string& text) {
  if (text == "cpu") return torch::kCPU;
  const auto count = static_cast<int64_t>(torch::cuda::device_count());
  if (text == "auto") return count > 0 ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  if (text != "cuda" && !text.starts_with("cuda:")) {
    throw UsageError("device '{}': give auto, cpu, cuda or cuda:N", text);
  }
  const auto index = text == "cuda" ? std::optional<int64_t>(0) : parse_integer(std::string_view(text).substr(5));
  if (!index || *index < 0) throw UsageError("device '{}': the part after 'cuda:' must be a number from 0 on", text);
  if (!torch::hasCUDA()) {
    throw UsageError("device '{}': this build has no CUDA; use cpu, or build with the gpu preset", text);
  }
  if (count == 0) throw UsageError("device '{}': no CUDA device is usable here; use cpu", text);
  if (*index >= count) {
    throw UsageError("device '{}': there {}; the last is cuda:{}", text,
                     count == 1 ? "is one CUDA device" : fmt::format("are {} CUDA devices", count), count - 1);
  }
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(*index)};
}

std::string device_name(const torch::Device& device) { return device.str(); }

torch::ScalarType parse_dtype(const std::string& text) {
  if (text == "f32" || text == "fp32" || text == "float32") return torch::kFloat32;
  if (text == "fp16" || text == "f16" || text == "float16") return torch::kFloat16;
  if (text == "bf16" || text == "bfloat16") return torch::kBFloat16;
  throw UsageError("dtype '{}': give f32, fp16 or bf16", text);
}

std::string dtype_name(torch::ScalarType type) {
  switch (type) {
    case torch::kFloat64:
      return "f64";
    case torch::kFloat32:
      return "f32";
    case torch::kFloat16:
      return "fp16";
    case torch::kBFloat16:
      return "bf16";
    case torch::kInt64:
      return "i64";
    case torch::kInt32:
      return "i32";
    case torch::kInt16:
      return "i16";
    case torch::kInt8:
      return "i8";
    case torch::kUInt8:
      return "u8";
    case torch::kBool:
      return "bool";
    default:
      return c10::toString(type);
  }
}

}  // namespace crisp::tensor
