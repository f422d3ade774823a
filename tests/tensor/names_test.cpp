#include "crisp/tensor/names.h"

#include <gtest/gtest.h>

#include <regex>

#include "crisp/base/error.h"
#include "crisp/tensor/pth.h"
#include "crisp/tensor/safetensors.h"
#include "tests/support/support.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::expected;
using test::sample;

StateDict named(const nlohmann::json& names) {
  StateDict state;
  for (const auto& name : names) state[name.get<std::string>()] = torch::zeros({2});
  return state;
}

bool is_ours(const std::string& name) {
  static const std::regex pattern(
      R"((encoder\.stages\.\d+\.(embed\.(proj|norm)|norm|blocks\.\d+\.(norm1|norm2|attn\.(q|kv|sr|norm|proj)|mlp\.(fc1|dwconv|fc2)))|head\.(proj\.[0-3]|fuse|norm|classifier)|classifier)\.(weight|bias|running_mean|running_var|num_batches_tracked))");
  return std::regex_match(name, pattern);
}

TEST(Names, StylesAreRecognised) {
  EXPECT_EQ(detect_style(read_safetensors(sample("hub/model.safetensors")).tensors), NameStyle::kHub);
  EXPECT_EQ(detect_style(read_safetensors(sample("hub5.safetensors")).tensors), NameStyle::kHub5);
  EXPECT_EQ(detect_style(read_pth(sample("original.pth"))), NameStyle::kOriginal);
  EXPECT_EQ(detect_style(read_pth(sample("encoder_legacy.pth"))), NameStyle::kOriginal);
  EXPECT_EQ(detect_style(named(expected()["names"]["encoder_hub"])), NameStyle::kHub);
  EXPECT_EQ(detect_style(named(expected()["names"]["encoder_hub5"])), NameStyle::kHub5);
  EXPECT_EQ(detect_style(named(expected()["names"]["classifier_hub5"])), NameStyle::kHub5);
  EXPECT_EQ(detect_style({{"encoder.stages.0.norm.weight", torch::zeros(1)}}), NameStyle::kOurs);
  EXPECT_EQ(detect_style({{"encoder.patch_embed1.proj.weight", torch::zeros(1)}}), NameStyle::kOriginal);
  EXPECT_EQ(detect_style({{"layer1.conv.weight", torch::zeros(1)}}), NameStyle::kUnknown);
  EXPECT_EQ(detect_style({}), NameStyle::kUnknown);
}

// The samples hold one network under three sets of names (the second in fp16).
TEST(Names, ThreeStylesGiveTheSameNetwork) {
  const StateDict hub = to_our_names(read_safetensors(sample("hub/model.safetensors")).tensors, NameStyle::kHub);
  const StateDict hub5 = to_our_names(read_safetensors(sample("hub5.safetensors")).tensors, NameStyle::kHub5);
  const StateDict original = to_our_names(read_pth(sample("original.pth")), NameStyle::kOriginal);
  EXPECT_EQ(hub.size(), hub5.size());
  EXPECT_EQ(hub.size(), original.size());
  for (const auto& [name, tensor] : hub) {
    EXPECT_TRUE(is_ours(name)) << name;
    ASSERT_TRUE(hub5.contains(name) && original.contains(name)) << name;
    EXPECT_TRUE(torch::equal(tensor, original.at(name))) << name;
    EXPECT_TRUE(torch::equal(tensor.to(torch::kFloat16), hub5.at(name).to(torch::kFloat16))) << name;
  }
}

TEST(Names, KeysComeBeforeValues) {
  const StateDict raw = read_safetensors(sample("hub/model.safetensors")).tensors;
  const StateDict ours = to_our_names(raw, NameStyle::kHub);
  const torch::Tensor& both = ours.at("encoder.stages.2.blocks.0.attn.kv.weight");  // [16, 8]
  EXPECT_TRUE(torch::equal(both.narrow(0, 0, 8), raw.at("segformer.encoder.block.2.0.attention.self.key.weight")));
  EXPECT_TRUE(torch::equal(both.narrow(0, 8, 8), raw.at("segformer.encoder.block.2.0.attention.self.value.weight")));
}

TEST(Names, EncodersAloneAndClassifiersMapCompletely) {
  for (const char* key : {"encoder_hub", "encoder_hub5", "classifier_hub5"}) {
    const StateDict state = named(expected()["names"][key]);
    for (const auto& [name, tensor] : to_our_names(state, detect_style(state))) EXPECT_TRUE(is_ours(name)) << name;
  }
  const StateDict encoder = to_our_names(read_pth(sample("encoder_legacy.pth")), NameStyle::kOriginal);
  for (const auto& [name, tensor] : encoder) EXPECT_TRUE(is_ours(name)) << name;
  EXPECT_EQ(encoder.at("classifier.weight").sizes(), (std::vector<int64_t>{10, 8}));
}

TEST(Names, BackToTheHub) {
  const StateDict raw = read_safetensors(sample("hub/model.safetensors")).tensors;
  const StateDict back = to_hub_names(to_our_names(raw, NameStyle::kHub));
  ASSERT_EQ(back.size(), raw.size());
  for (const auto& [name, tensor] : raw) EXPECT_TRUE(torch::equal(back.at(name), tensor)) << name;
}

TEST(Names, StrangersKeepTheirNames) {
  const StateDict ours = to_our_names({{"segformer.encoder.block.0.0.attention.self.query.weight", torch::zeros(1)},
                                       {"segformer.encoder.block.00.0.attention.self.query.weight", torch::zeros(1)},
                                       {"segformer.encoder.block.99999999999.0.layer_norm_1.bias", torch::zeros(1)},
                                       {"nonsense", torch::zeros(1)}},
                                      NameStyle::kHub);
  EXPECT_EQ(ours.size(), 4u);
  EXPECT_TRUE(ours.contains("encoder.stages.0.blocks.0.attn.q.weight"));
  EXPECT_TRUE(ours.contains("nonsense"));
  EXPECT_TRUE(ours.contains("segformer.encoder.block.99999999999.0.layer_norm_1.bias"));
}

TEST(Names, HalvesThatDoNotFitStayApart) {
  const std::string stem = "segformer.encoder.block.0.0.attention.self.";
  const StateDict ours = to_our_names(
      {{stem + "key.weight", torch::zeros({2, 2})}, {stem + "value.weight", torch::zeros({3, 2})}}, NameStyle::kHub);
  EXPECT_TRUE(ours.contains("encoder.stages.0.blocks.0.attn.key.weight"));
  EXPECT_TRUE(ours.contains("encoder.stages.0.blocks.0.attn.value.weight"));
}

TEST(Names, TwoTensorsOfOneNameAreAnError) {
  EXPECT_THROW(to_our_names({{"backbone.norm1.weight", torch::zeros(1)}, {"norm1.weight", torch::zeros(1)}},
                            NameStyle::kOriginal),
               Error);
}

TEST(Names, RealHubFileMapsCompletely) {
  const StateDict raw = read_safetensors(crisp::test::project_folder() / "weights" / "mit_b0.safetensors").tensors;
  ASSERT_EQ(detect_style(raw), NameStyle::kHub);
  const StateDict ours = to_our_names(raw, NameStyle::kHub);
  for (const auto& [name, tensor] : ours) EXPECT_TRUE(is_ours(name)) << name;
  EXPECT_EQ(ours.size(), 194u - 16u);  // 8 blocks, key and value joined in weight and bias
  EXPECT_EQ(count_elements(ours), count_elements(raw));
}

}  // namespace
}  // namespace crisp::tensor
