#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "crisp/tensor/cuda.h"
#include "crisp/tensor/safetensors.h"
#include "tests/support/support.h"

namespace crisp::test {

// The largest difference must stay within `tolerance` of the expected tensor's own scale (its largest
// magnitude); `floor` keeps gradients that are zero but for rounding from being compared with themselves.
inline void expect_close(const std::string& what, const torch::Tensor& got, const torch::Tensor& expected,
                         double tolerance = 1e-4, double floor = 0) {
  ASSERT_TRUE(got.defined()) << what << " is undefined";
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  const torch::Tensor a = got.detach().to(torch::kCPU, torch::kDouble),
                      b = expected.detach().to(torch::kCPU, torch::kDouble);
  ASSERT_TRUE(torch::isfinite(a).all().item<bool>()) << what << " is not finite";
  const double scale = std::max(b.abs().max().item<double>(), floor);
  EXPECT_LE((a - b).abs().max().item<double>(), tolerance * scale) << what << " (scale " << scale << ")";
}

// The devices to run a case on: the CPU, and the GPU where there is one.
inline std::vector<torch::Device> devices() {
  tensor::forbid_tf32();
  std::vector<torch::Device> all = {torch::kCPU};
  if (torch::cuda::is_available()) all.emplace_back(torch::kCUDA, 0);
  return all;
}

inline tensor::StateDict read_golden(const std::string& name) {
  return tensor::read_safetensors(golden("goldens/" + name)).tensors;
}

}  // namespace crisp::test
