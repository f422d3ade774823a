// What labels of all other photos say of a photo.
#include "crisp/seed/crossfit.h"

#include "crisp/base/error.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::TokenHead drawn_head(uint64_t seed, const std::vector<int64_t>& photos) {
  torch::manual_seed(seed);
  model::TokenHead head(6, static_cast<int64_t>(photos.size()));
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : head->parameters()) parameter.normal_();
  head->mean.normal_();
  head->deviation.uniform_(0.5, 2);
  head->photos.copy_(torch::tensor(photos, torch::kLong));
  head->eval();
  return head;
}

Sha256 photo_in(size_t half) {
  Sha256 photo{};
  photo[0] = static_cast<uint8_t>(half);
  return photo;
}

TEST(Crossfit, APhotoIsJudgedByTheOtherHalf) {
  const model::TokenHead first = drawn_head(1, {9, 9, 9, 9}), second = drawn_head(2, {9, 9, 9, 9});
  const seed::Crossfit crossfit({first, second});
  const torch::InferenceMode inference;
  const torch::Tensor tokens = torch::randn({2, 3, 5, 6});
  for (const size_t half : {0u, 1u}) {
    model::TokenHead other = half == 0 ? second : first;
    const torch::Tensor judged = crossfit.judge(tokens, photo_in(half), {1, 3});
    // By hand: the standardised tokens of the first block through both layers, softmax over 0, 1 and 3.
    const torch::Tensor x = (tokens[0] - other->mean) / other->deviation;
    const torch::Tensor hidden = torch::gelu(torch::matmul(x, other->hidden->weight.t()) + other->hidden->bias);
    const torch::Tensor logits = torch::matmul(hidden, other->scores->weight.t()) + other->scores->bias;
    const torch::Tensor odds = torch::stack({logits.select(2, 0), logits.select(2, 1), logits.select(2, 3)}).exp();
    expect_close("judged", judged, (odds / odds.sum(0)).narrow(0, 1, 2), 1e-5);
    const torch::Tensor tags = odds.narrow(0, 1, 2);
    expect_close("no background", crossfit.judge(tokens, photo_in(half), {1, 3}, false), tags / tags.sum(0), 1e-5);
  }
}

TEST(Crossfit, AHeadThatHardlyMetATagIsNotAsked) {
  const seed::Crossfit crossfit({drawn_head(1, {9, 2, 9, 9}), drawn_head(2, {9, 9, 9, 9})});
  const torch::InferenceMode inference;
  const torch::Tensor tokens = torch::randn({1, 3, 5, 6});
  EXPECT_TRUE(crossfit.judge(tokens, photo_in(0), {1, 2}).defined());
  EXPECT_FALSE(crossfit.judge(tokens, photo_in(1), {1, 2}).defined());
  EXPECT_TRUE(crossfit.judge(tokens, photo_in(1), {2, 3}).defined());
}

TEST(Crossfit, AHeadIsFiledWithItsClasses) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "head.safetensors";
  const model::TokenHead head = drawn_head(1, {5, 6, 7});
  model::save_token_head(file, head, {"background", "cat", "dog"});
  model::TokenHead read = model::load_token_head(file, {"background", "cat", "dog"});
  const torch::InferenceMode inference;
  const torch::Tensor tokens = torch::randn({4, 6});
  EXPECT_TRUE(torch::equal(read->forward(tokens), model::TokenHead(head)->forward(tokens)));
  EXPECT_TRUE(torch::equal(read->photos, head->photos));
  const auto other = [&] { model::load_token_head(file, {"background", "dog", "cat"}); };
  EXPECT_NE(error_of(other).find("other classes"), std::string::npos);
}

}  // namespace
}  // namespace crisp::test
