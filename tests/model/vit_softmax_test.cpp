// The softmax of a ViT's attention against torch's.
#include "crisp/model/vit_softmax_kernel.h"

#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

TEST(VitSoftmax, IsTorchsInBothTypes) {
  torch::manual_seed(1);
  for (const int64_t columns : {1, 15, 16, 17, 257, 1025}) {
    const torch::Tensor scores = 30 * torch::randn({5, columns});
    scores[1] = -1e4;    // equal, whatever they are
    scores[2][0] = 1e4;  // one that takes all
    torch::Tensor ours = scores.clone();
    model::softmax_f32(0.125f, 0, 5, columns, ours.mutable_data_ptr());
    expect_close("f32", ours, torch::softmax(0.125 * scores, 1), 1e-6);
    const torch::Tensor half = scores.to(torch::kBFloat16);
    ours = half.clone();
    model::softmax_bf16(0.125f, 0, 5, columns, ours.mutable_data_ptr());
    expect_close("bf16", ours.to(torch::kFloat), torch::softmax(0.125 * half.to(torch::kFloat), 1), 4e-3);
  }
}

TEST(VitSoftmax, TouchesItsRowsAlone) {
  const torch::Tensor scores = torch::randn({4, 20});
  const torch::Tensor ours = scores.clone();
  model::softmax_f32(1, 1, 3, 20, ours.mutable_data_ptr());
  EXPECT_TRUE(torch::equal(ours[0], scores[0]));
  EXPECT_TRUE(torch::equal(ours[3], scores[3]));
  expect_close("row", ours[1], torch::softmax(scores[1], 0), 1e-6);
}

}  // namespace
}  // namespace crisp::test
