// The walk of scores over like neighbours: against pixel-adaptive refinement, torch's own operators and by hand.
#include "crisp/ops/propagate.h"

#include "crisp/ops/par.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

TEST(Propagate, IsPixelAdaptiveRefinementByColour) {
  torch::manual_seed(3);
  const int h = 21, w = 17, labels = 3;
  const torch::Tensor rgb = torch::randint(0, 256, {h, w, 3}, torch::kByte);
  const torch::Tensor scores = torch::rand({1, labels, h, w});
  const torch::Tensor weights = ops::propagation_weights(rgb.permute({2, 0, 1}).unsqueeze(0).to(torch::kFloat));
  expect_close("sum", weights.sum(1), torch::ones({1, h, w}), 1e-5);

  ops::ParOptions options;
  options.dilations = {1, 2, 4, 8};
  options.w2 = 0;
  for (const int steps : {0, 1, 4}) {
    options.iterations = steps;
    torch::Tensor expected = torch::empty_like(scores);
    const auto numbers = static_cast<size_t>(scores.numel());
    ops::par({rgb.const_data_ptr<uint8_t>(), static_cast<size_t>(rgb.numel())}, w, h, labels,
             {scores.const_data_ptr<float>(), numbers}, {expected.mutable_data_ptr<float>(), numbers}, options);
    expect_close("steps", ops::propagate(scores, weights, steps), expected, 1e-4);
  }
}

TEST(Propagate, WeightsEqualTorchsOperators) {
  torch::manual_seed(5);
  for (const auto& [h, w] :
       {std::pair{12, 19}, std::pair{3, 16}, std::pair{1, 33}, std::pair{30, 5}, std::pair{21, 70}}) {
    for (const int channels : {1, 3}) {
      // Noise, with a flat patch and a bright cell: deviations from nothing to large.
      torch::Tensor photo = torch::rand({2, channels, h, w});
      photo.slice(3, 0, w / 2).fill_(0.25);
      photo[1][0][0][w - 1] = 40;
      expect_close("weights", ops::propagation_weights(photo), ops::propagation_weights_reference(photo), 1e-5);
      expect_close("sharper", ops::propagation_weights(photo, 0.1), ops::propagation_weights_reference(photo, 0.1),
                   1e-5);
    }
  }
}

TEST(Propagate, EqualsTorchsOperatorsAndTheirGradients) {
  torch::manual_seed(4);
  for (const torch::Device& device : devices()) {
    int64_t steps = 2;
    for (const auto& [h, w] :
         {std::pair{12, 19}, std::pair{3, 5}, std::pair{1, 1}, std::pair{9, 2}, std::pair{21, 70}}) {
      ++steps;
      const torch::Tensor weights = ops::propagation_weights(torch::rand({2, 3, h, w}, device));
      const torch::Tensor wanted = torch::randn({2, 8, h, w}, device);  // more planes than are walked together
      torch::Tensor fused = torch::randn({2, 8, h, w}, device).requires_grad_();
      torch::Tensor plain = fused.detach().clone().requires_grad_();
      const torch::Tensor a = ops::propagate(fused, weights, steps),
                          b = ops::propagate_reference(plain, weights, steps);
      (a * wanted).sum().backward();
      (b * wanted).sum().backward();
      expect_close("scores", a.detach(), b.detach(), 1e-5);
      expect_close("gradients", fused.grad(), plain.grad(), 1e-5);
    }
  }
}

TEST(Propagate, StopsAtEdgesOfThePhoto) {
  torch::Tensor photo = torch::zeros({1, 3, 24, 24});
  photo.slice(3, 12).fill_(1);  // the right half is white
  torch::Tensor scores = torch::zeros({1, 1, 24, 24});
  scores.slice(3, 0, 12).fill_(1);
  const torch::Tensor after = ops::propagate(scores, ops::propagation_weights(photo), 10);
  expect_close("a mask that ends where the photo does", after, scores, 1e-3);

  torch::Tensor spot = torch::zeros({1, 1, 24, 24});
  spot[0][0][12][4] = 1;
  const torch::Tensor spread = ops::propagate(spot, ops::propagation_weights(photo), 10)[0][0];
  EXPECT_GT(spread.slice(1, 0, 12).sum().item<double>(), 0.5);
  EXPECT_LT(spread.slice(1, 12).abs().max().item<double>(), 1e-4) << "nothing crosses to the white half";
}

TEST(Propagate, AFlatPhotoAsksAllNeighboursAlike) {
  const torch::Tensor weights = ops::propagation_weights(torch::full({1, 3, 20, 20}, 0.4));
  expect_close("weights", weights, torch::full({1, 32, 20, 20}, 1.0 / 32), 1e-6);
  torch::Tensor spot = torch::zeros({1, 1, 20, 20});
  spot[0][0][10][10] = 32;
  const torch::Tensor once = ops::propagate(spot, weights, 1)[0][0];
  EXPECT_NEAR(once[10][10].item<double>(), 0, 1e-6) << "a cell is not its own neighbour";
  for (const auto& [y, x] : {std::pair{9, 10}, std::pair{12, 8}, std::pair{14, 10}, std::pair{2, 18}}) {
    EXPECT_NEAR(once[y][x].item<double>(), 1, 1e-5) << y << ", " << x;
  }
  EXPECT_NEAR(once[10][13].item<double>(), 0, 1e-6) << "3 is no distance";
}

TEST(Propagate, NamesShapesThatDoNotFit) {
  try {
    ops::propagate(torch::zeros({1, 2, 4, 4}), torch::zeros({1, 32, 4, 5}), 1);
    FAIL() << "was accepted";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("[1, 32, 4, 5]"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace crisp::test
