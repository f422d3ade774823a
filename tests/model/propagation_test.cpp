// The layer that lets scores follow the photo: what it starts as, where it stands, what it learns.
#include "crisp/model/propagation.h"

#include "crisp/ops/propagate.h"
#include "crisp/train/relabel.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::Segmenter with_propagation() {
  model::SegmenterConfig config = tiny_config("A6");
  config.head.propagate = 4;
  torch::manual_seed(6);
  model::Segmenter network = model::make_segmenter(config);
  const torch::NoGradGuard no_grad;
  network->propagation->gate->weight.normal_(0, 0.1);
  network->eval();
  return network;
}

TEST(Propagation, MixesWhatNeighboursSayByItsGate) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_propagation();
  const torch::Tensor images = torch::randn({2, 3, 50, 70});  // no multiples of 4
  const model::Prediction plain = network->head->forward(network->encoder->forward(images), {});
  const torch::Tensor weights = ops::propagation_weights(torch::avg_pool2d(images, 4, 4, 0, true));
  const torch::Tensor after = ops::propagate_reference(plain.refined, weights, 4);
  const torch::Tensor gate = torch::sigmoid(torch::conv2d(
      plain.fused, network->propagation->gate->weight.view({1, -1, 1, 1}), network->propagation->gate->bias));
  expect_close("Z*", network->forward(images).refined, plain.refined + gate * (after - plain.refined), 1e-5);
}

TEST(Propagation, BringsScoresToAFinerGridWhereOneIsAskedFor) {
  const torch::NoGradGuard no_grad;
  model::Propagation layer(6, 3);
  model::draw_weights(*layer);
  const torch::Tensor images = torch::randn({2, 3, 56, 84}), fused = torch::randn({2, 6, 8, 12});
  const torch::Tensor scores = torch::randn({2, 5, 8, 12});
  const torch::Tensor fine = torch::upsample_bilinear2d(scores, {16, 24}, false);
  const torch::Tensor weights = ops::propagation_weights(torch::adaptive_avg_pool2d(images, {16, 24}));
  const torch::Tensor after = ops::propagate_reference(fine, weights, 3);
  expect_close("Z*", layer->forward(images, fused, scores, 16, 24), (fine + after) / 2, 1e-5);
}

TEST(Propagation, StartsWithHalf) {
  model::SegmenterConfig config = tiny_config("A6");
  config.head.propagate = 2;
  model::Segmenter network = model::make_segmenter(config);
  EXPECT_EQ(network->propagation->gate->weight.abs().max().item<float>(), 0);
  EXPECT_EQ(network->propagation->gate->bias.item<float>(), 0);
}

TEST(Propagation, LearnsItsGateAndPassesGradientsOn) {
  model::Segmenter network = with_propagation();
  network->train();
  const model::Prediction said = network->forward(torch::randn({2, 3, 64, 64}));
  torch::log_softmax(said.refined, 1).select(1, 1).mean().backward();
  EXPECT_GT(network->propagation->gate->weight.grad().abs().max().item<float>(), 0);
  EXPECT_GT(network->encoder->parameters().front().grad().abs().max().item<float>(), 0);
}

TEST(Propagation, TeachersFollowThePhotoToo) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_propagation();
  const torch::Tensor images = torch::randn({1, 3, 64, 96});
  const auto views = train::teacher_views(*network, {images, {}}, /*passes=*/1, {});
  expect_close("mean", views[0].probabilities, torch::softmax(network->forward(images).refined, 1)[0], 1e-5);
}

TEST(Propagation, SmallPhotosAndHalfPrecision) {
  const torch::NoGradGuard no_grad;
  model::Segmenter network = with_propagation();
  EXPECT_EQ(network->forward(torch::randn({1, 3, 9, 21})).refined.sizes(), (std::vector<int64_t>{1, 5, 3, 6}));
  const torch::Tensor images = torch::randn({1, 3, 64, 64});
  const torch::Tensor expected = network->forward(images).refined;
  network->to(torch::kBFloat16);
  expect_close("bf16", network->forward(images.to(torch::kBFloat16)).refined.to(torch::kFloat), expected, 0.1);
}

}  // namespace
}  // namespace crisp::test
