#include "crisp/ops/device_par.h"

#include <gtest/gtest.h>

#include "crisp/base/random.h"

namespace crisp::ops {
namespace {

// Blocks of flat colour and of noise.
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

TEST(DevicePar, GpuDoesTheSame) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU here";
  const int width = 61, height = 43;
  const std::vector<uint8_t> rgb = picture(width, height);
  torch::manual_seed(3);
  for (const int labels : {1, 3, 6}) {
    for (const bool keep_sum : {true, false}) {
      ParOptions options;
      options.keep_sum = keep_sum;
      options.iterations = labels == 3 ? 9 : 10;
      const torch::Tensor given = torch::softmax(4 * torch::randn({labels, height, width}), 0);
      const std::span<const float> scores(given.const_data_ptr<float>(), static_cast<size_t>(given.numel()));
      std::vector<float> expected(scores.size()), made(scores.size());
      par(rgb, width, height, labels, scores, expected, options);
      par_on(torch::kCUDA)(rgb, width, height, labels, scores, made, options);
      for (size_t i = 0; i < made.size(); ++i) ASSERT_NEAR(made[i], expected[i], 2e-4f) << i;
    }
  }
}

}  // namespace
}  // namespace crisp::ops
