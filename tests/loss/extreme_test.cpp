// What training data and half-trained networks come up with: values and gradients stay finite.
#include "crisp/loss/total.h"

#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

constexpr int64_t kBatch = 2, kClasses = 4, kSide = 32;

struct Case {
  loss::Outputs outputs;
  loss::Targets targets;
};

Case random_case(const torch::Device& device, torch::ScalarType type = torch::kFloat) {
  torch::manual_seed(1);
  const auto maps = [&](int64_t channels) { return torch::randn({kBatch, channels, kSide / 4, kSide / 4}); };
  Case made;
  made.outputs = {maps(kClasses), maps(kClasses), maps(kClasses).exp(), maps(1)};
  made.targets.labels = torch::randint(kClasses, {kBatch, kSide, kSide}).to(torch::kByte);
  made.targets.band = torch::randint(2, {kBatch, kSide, kSide}).to(torch::kByte);
  made.targets.distance = torch::rand({kBatch, kSide, kSide});
  made.targets.distance.select(1, 0).zero_();
  for (torch::Tensor* map :
       {&made.outputs.logits, &made.outputs.refined, &made.outputs.variance, &made.outputs.boundary}) {
    *map = map->to(device, type);
  }
  for (torch::Tensor* map : {&made.targets.labels, &made.targets.band, &made.targets.distance}) *map = map->to(device);
  return made;
}

// Runs every part, in all of its variants; expects finite numbers and returns the largest gradient.
double largest_gradient(Case& made, double* value = nullptr) {
  double largest = 0;
  for (int variant = 0; variant < 2; ++variant) {
    const bool other = variant == 1;
    loss::Options options{.surface = 0.1, .label_variance = other};
    options.discount_boundary = options.surface_everywhere = other;
    if (other) options.weight.range = ops::Range::kMinMax;
    loss::Outputs& o = made.outputs;
    const std::vector<torch::Tensor*> maps = {&o.logits, &o.refined, &o.variance, &o.boundary};
    for (torch::Tensor* map : maps) *map = map->detach().requires_grad_(true);
    const loss::Total got = loss::total(o, made.targets, options);
    EXPECT_EQ(got.parts.size(), 5u);
    EXPECT_EQ(got.sum.scalar_type(), torch::kFloat);
    for (const loss::Part& part : got.parts) EXPECT_TRUE(std::isfinite(part.value.item<double>())) << part.name;
    if (value) *value = got.sum.item<double>();
    got.sum.backward();
    for (torch::Tensor* map : maps) {
      EXPECT_TRUE(map->grad().defined());
      const torch::Tensor gradient = map->grad().to(torch::kFloat);
      EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>());
      largest = std::max(largest, gradient.abs().max().item<double>());
    }
  }
  return largest;
}

TEST(Extreme, NoValidPixelIsZeroAndTeachesNothing) {
  for (const torch::Device& device : devices()) {
    Case made = random_case(device);
    made.targets.labels.fill_(255);
    made.targets.band.fill_(255);
    made.targets.distance.fill_(1);
    double value = -1;
    EXPECT_EQ(largest_gradient(made, &value), 0);
    EXPECT_EQ(value, 0);
  }
}

TEST(Extreme, LabelsThatAreNoClassCountAsIgnored) {
  for (const torch::Device& device : devices()) {
    Case made = random_case(device), ignored = made;
    made.targets.labels.narrow(1, 0, 9).fill_(kClasses);
    double value = 0, expected = 0;
    largest_gradient(made, &value);
    ignored.targets.labels = made.targets.labels.clone();
    ignored.targets.labels.narrow(1, 0, 9).fill_(255);
    largest_gradient(ignored, &expected);
    EXPECT_EQ(value, expected);
  }
}

TEST(Extreme, CropsOfOneClass) {
  for (const torch::Device& device : devices()) {
    for (const int64_t label : {int64_t{0}, kClasses - 1}) {
      Case made = random_case(device);
      made.targets.labels.fill_(label);
      made.targets.band.zero_();
      made.targets.distance.fill_(1);
      EXPECT_GT(largest_gradient(made), 0);
    }
  }
}

TEST(Extreme, FlatUncertaintyLeavesTheWeightAtOne) {
  for (const torch::Device& device : devices()) {
    Case made = random_case(device);
    made.outputs.variance.fill_(1);
    made.outputs.refined.copy_(torch::randn({1, kClasses, 1, 1}).to(device));
    EXPECT_GT(largest_gradient(made), 0);
    const torch::Tensor u = loss::uncertainty_map(made.outputs.refined, made.outputs.variance);
    EXPECT_EQ(u.abs().max().item<float>(), 0);
    EXPECT_EQ(loss::uncertainty_weight(u, kSide, kSide).min().item<float>(), 1);
  }
}

TEST(Extreme, HugeLogitsInEveryType) {
  for (const torch::Device& device : devices()) {
    for (const torch::ScalarType type : {torch::kFloat, torch::kHalf, torch::kBFloat16}) {
      for (const double size : {1.0, 1e4}) {
        Case made = random_case(device, type);
        for (torch::Tensor* map : {&made.outputs.logits, &made.outputs.refined, &made.outputs.boundary}) {
          *map = torch::sign(*map) * size;  // each class of a pixel is size or -size
        }
        made.outputs.variance = made.outputs.variance.clamp(0.1, 10);
        EXPECT_GT(largest_gradient(made), 0);
      }
    }
  }
}

TEST(Extreme, AWholeClassOfCertaintyOnTheWrongLabel) {
  for (const torch::Device& device : devices()) {
    Case made = random_case(device);
    made.outputs.refined.fill_(-1e4);
    made.outputs.refined.select(1, 0).fill_(1e4);
    made.outputs.boundary.fill_(-1e4);
    made.targets.labels.fill_(1);
    made.targets.band.fill_(1);
    double value = 0;
    EXPECT_GT(largest_gradient(made, &value), 0);
    EXPECT_GT(value, 1e4);
  }
}

TEST(Extreme, MapsOfOnePixel) {
  for (const torch::Device& device : devices()) {
    Case made = random_case(device);
    for (torch::Tensor* map :
         {&made.outputs.logits, &made.outputs.refined, &made.outputs.variance, &made.outputs.boundary}) {
      *map = map->narrow(2, 0, 1).narrow(3, 0, 1).contiguous();
    }
    for (torch::Tensor* map : {&made.targets.labels, &made.targets.band, &made.targets.distance}) {
      *map = map->narrow(1, 0, 1).narrow(2, 0, 1).contiguous();
    }
    EXPECT_GT(largest_gradient(made), 0);
  }
}

TEST(Extreme, TheLayoutOfTheMapsDoesNotMatter) {
  Case made = random_case(torch::kCPU), other = random_case(torch::kCPU);
  for (torch::Tensor* map : {&other.outputs.logits, &other.outputs.refined, &other.outputs.variance}) {
    *map = map->contiguous(torch::MemoryFormat::ChannelsLast);
  }
  double value = 0, expected = 0;
  EXPECT_DOUBLE_EQ(largest_gradient(made, &expected), largest_gradient(other, &value));
  EXPECT_EQ(value, expected);
}

}  // namespace
}  // namespace crisp::test
