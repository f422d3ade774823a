// The DINOv2 encoder against Meta's own code and against transformers (tests/goldens/model_dinov2.py).
#include "crisp/model/vit.h"

#include "crisp/base/error.h"
#include "crisp/tensor/checkpoint.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

const std::vector<int64_t> kAll = {1, 2, 3, 4};

model::Vit official() { return model::load_vit(golden("goldens/model/dinov2.safetensors")); }
model::Vit hub() { return model::load_vit(golden("goldens/model/hub_dinov2")); }

void expect_blocks(model::Vit& vit, const std::string& size, const tensor::StateDict& expected, double tolerance) {
  const torch::Tensor image = read_golden("model/dinov2_eval.safetensors").at(size + ".input");
  for (const torch::Device& device : devices()) {
    vit->to(device);
    const std::vector<torch::Tensor> maps = vit->forward(image.to(device), kAll);
    ASSERT_EQ(maps.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      const std::string name = size + ".block." + std::to_string(i + 1);
      expect_close(name, maps[i], expected.at(name), tolerance);
      EXPECT_TRUE(maps[i].is_contiguous(torch::MemoryFormat::ChannelsLast)) << name;
    }
  }
}

class VitSizes : public testing::TestWithParam<std::string> {};

TEST_P(VitSizes, BlocksMatchMetasCode) {
  model::Vit vit = official();
  const tensor::StateDict expected = read_golden("model/dinov2_eval.safetensors");
  expect_blocks(vit, GetParam(), expected, 1e-4);
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(vit->pack(torch::kFloat), torch::kFloat);
  expect_blocks(vit, GetParam(), expected, 1e-4);
}

TEST_P(VitSizes, BlocksMatchTransformers) {
  model::Vit vit = hub();
  const tensor::StateDict expected = read_golden("model/hub_dinov2_eval.safetensors");
  expect_blocks(vit, GetParam(), expected, 1e-4);
  const torch::NoGradGuard no_grad;
  vit->pack(torch::kFloat);
  expect_blocks(vit, GetParam(), expected, 1e-4);
}

TEST_P(VitSizes, PackedBf16StaysClose) {
  const torch::NoGradGuard no_grad;
  model::Vit vit = official();
  if (vit->pack_bf16() != torch::kBFloat16) GTEST_SKIP() << "this processor has no bf16";
  expect_blocks(vit, GetParam(), read_golden("model/dinov2_eval.safetensors"), 0.03);
}

INSTANTIATE_TEST_SUITE_P(Sizes, VitSizes, testing::Values("70x70", "42x98"));

// The weights that are shipped, on a picture everybody can make (`wave` of the golden's script).
TEST(Vit, ShippedWeightsGiveMetasTokens) {
  const auto across = torch::arange(168, torch::kDouble).view({1, -1}),
             down = torch::arange(112, torch::kDouble).view({-1, 1});
  std::vector<torch::Tensor> planes;
  for (int c = 0; c < 3; ++c) planes.push_back(torch::sin(0.05 * (c + 1) * across) + torch::cos(0.11 * down + c));
  const torch::Tensor image = torch::stack(planes).unsqueeze(0).to(torch::kFloat);
  const tensor::StateDict expected = read_golden("model/dinov2_vits14.safetensors");
  const torch::NoGradGuard no_grad;
  model::Vit vit = model::load_vit(project_folder() / "weights/dinov2_vits14.safetensors");
  EXPECT_EQ(vit->config.arch, "vit_s14");
  const auto compare = [&](double tolerance) {
    const std::vector<torch::Tensor> maps = vit->forward(image, {6, 12});
    for (size_t i = 0; i < 2; ++i) {
      const std::string name = "block." + std::to_string(6 * (i + 1));
      const torch::Tensor& map = maps[i][0];
      const auto token = [&](int64_t y, int64_t x) { return map.select(1, y).select(1, x); };
      expect_close(name, map.mean(at::IntArrayRef{1, 2}), expected.at(name + ".mean"), tolerance);
      expect_close(name, torch::stack({token(0, 0), token(3, 5), token(7, 0), token(7, 11)}),
                   expected.at(name + ".tokens"), tolerance);
    }
  };
  compare(1e-4);
  vit->pack(torch::kFloat);
  compare(1e-4);
  if (vit->pack_bf16() == torch::kBFloat16) compare(0.05);
}

TEST(Vit, BlocksAfterTheLastWantedAreNotNeeded) {
  model::Vit vit = official();
  const torch::Tensor image = torch::randn({1, 3, 28, 42});
  const std::vector<torch::Tensor> both = vit->forward(image, {1, 3});
  ASSERT_EQ(both.size(), 2u);
  for (const torch::Tensor& parameter : vit->blocks[3]->parameters()) parameter.fill_(NAN);
  const std::vector<torch::Tensor> again = vit->forward(image, {1, 3});
  EXPECT_TRUE(torch::equal(both[0], again[0]));
  EXPECT_TRUE(torch::equal(both[1], again[1]));
}

TEST(Vit, PackedKeepsBatchesApart) {
  const torch::NoGradGuard no_grad;
  model::Vit vit = official();
  vit->pack(torch::kFloat);
  const torch::Tensor images = torch::randn({3, 3, 42, 28});
  const torch::Tensor together = vit->forward(images, {4})[0];
  for (int64_t i = 0; i < 3; ++i) {
    expect_close("image", together.narrow(0, i, 1), vit->forward(images.narrow(0, i, 1), {4})[0], 1e-5);
  }
}

TEST(Vit, GradientsPassThroughToTheImage) {
  model::Vit vit = official();
  vit->pack(torch::kFloat);  // passes with gradients take the plain way
  const torch::Tensor image = torch::randn({1, 3, 28, 28}).requires_grad_(true);
  vit->forward(image, {2})[0].sum().backward();
  EXPECT_GT(image.grad().abs().max().item<double>(), 0);
}

TEST(Vit, PositionsFollowTheSizeAndTheParameters) {
  const torch::NoGradGuard no_grad;
  model::Vit vit = official();
  EXPECT_TRUE(torch::equal(vit->positions(5, 5), vit->pos_embed));
  const torch::Tensor wide = vit->positions(3, 7).clone();
  EXPECT_EQ(wide.sizes(), (std::vector<int64_t>{1, 22, 128}));
  EXPECT_EQ(vit->positions(7, 3).size(1), 22);
  EXPECT_FALSE(torch::equal(vit->positions(7, 3), wide));
  EXPECT_TRUE(torch::equal(vit->positions(3, 7), wide));
  vit->pos_embed.mul_(2);
  expect_close("doubled", vit->positions(3, 7), 2 * wide, 1e-6);
}

TEST(Vit, BadCallsSayWhatIsWanted) {
  model::Vit vit = official();
  const auto said = [&](at::IntArrayRef shape, const std::vector<int64_t>& blocks) {
    return error_of([&] { vit->forward(torch::zeros(shape), blocks); });
  };
  EXPECT_NE(said({1, 3, 30, 28}, {1}).find("multiples of 14"), std::string::npos);
  EXPECT_NE(said({1, 3, 0, 28}, {1}).find("multiples of 14"), std::string::npos);
  EXPECT_NE(said({1, 1, 28, 28}, {1}).find("[1, 1, 28, 28]"), std::string::npos);
  for (const std::vector<int64_t>& blocks : {std::vector<int64_t>{0}, {5}, {2, 2}, {3, 1}}) {
    EXPECT_NE(said({1, 3, 28, 28}, blocks).find("from 1 to 4"), std::string::npos);
  }
  EXPECT_NE(said({1, 3, 28, 28}, {}).find("no block"), std::string::npos);
  EXPECT_NE(error_of([] { model::load_vit(golden("goldens/model/hub")); }).find("not a plain vision transformer"),
            std::string::npos);
  EXPECT_NE(error_of([] { model::vit_config("vit_g14"); }).find("vit_l14"), std::string::npos);
}

TEST(Vit, ShapesComeFromTheSource) {
  const model::VitConfig ours = official()->config, theirs = hub()->config;
  EXPECT_EQ(ours.arch, "custom");
  EXPECT_EQ(ours.heads, 2);
  EXPECT_EQ(ours.grid, 5);
  EXPECT_EQ(ours.mlp_ratio, 1);
  EXPECT_EQ(ours.layer_norm_eps, 1e-6);
  EXPECT_EQ(ours.positions, model::Positions::kOriginal);
  EXPECT_EQ(theirs.heads, 4);
  EXPECT_EQ(theirs.dim, 16);
  EXPECT_EQ(theirs.mlp_ratio, 2);
  EXPECT_EQ(theirs.positions, model::Positions::kTransformers);
  EXPECT_EQ(model::vit_config("vit_l14").heads, 16);
  EXPECT_TRUE(model::is_vit("vit_b14"));
  EXPECT_FALSE(model::is_vit("mit_b0"));
}

}  // namespace
}  // namespace crisp::test
