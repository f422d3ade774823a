#include "crisp/ops/device_par.h"

#include <gtest/gtest.h>

#include "crisp/base/random.h"

namespace crisp::ops {
namespace {

// Blocks of noise, so that there are flat places, edges and texture.
std::vector<uint8_t> picture(int width, int height) {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const uint64_t block = derive_seed(static_cast<uint64_t>(c), static_cast<uint64_t>((y / 7) * 64 + x / 9));
        const uint64_t noise = derive_seed(7, static_cast<uint64_t>((y * width + x) * 3 + c));
        rgb.push_back(static_cast<uint8_t>(block % 200 + ((x / 9) % 2 ? noise % 50 : 0)));
      }
  return rgb;
}

TEST(DevicePar, IsPar) {
  const int width = 61, height = 43, labels = 3;
  const std::vector<uint8_t> rgb = picture(width, height);
  torch::manual_seed(3);
  const torch::Tensor scores = torch::softmax(4 * torch::randn({labels, height, width}), 0);
  for (const bool keep_sum : {true, false}) {
    ParOptions options;
    options.keep_sum = keep_sum;
    torch::Tensor expected = torch::empty_like(scores);
    const auto size = static_cast<size_t>(scores.numel());
    par(rgb, width, height, labels, {scores.const_data_ptr<float>(), size}, {expected.mutable_data_ptr<float>(), size},
        options);
    const torch::Tensor image =
        torch::from_blob(const_cast<uint8_t*>(rgb.data()), {height, width, 3}, torch::kByte).permute({2, 0, 1});
    const torch::Tensor made = par_tensors(image, scores, options);
    EXPECT_LT((made - expected).abs().max().item<float>(), 2e-4f);
    EXPECT_GT((made - scores).abs().max().item<float>(), 0.1f);
  }
}

TEST(DevicePar, NumbersThatAreNoneCountAsZero) {
  torch::Tensor scores = torch::full({2, 40, 40}, 0.5f);
  scores[0][3][4] = std::nanf("");
  scores[1][9][9] = INFINITY;
  const torch::Tensor made = par_tensors(torch::zeros({3, 40, 40}, torch::kByte), scores);
  EXPECT_TRUE(made.isfinite().all().item<bool>());
  EXPECT_LE(made.max().item<float>(), 0.5f + 1e-5f);
}

}  // namespace
}  // namespace crisp::ops
