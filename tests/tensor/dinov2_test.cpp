// Files of DINOv2 under their three styles of names (tests/goldens/model_dinov2.py).
#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "crisp/tensor/arch.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/safetensors.h"
#include "tests/support/support.h"

namespace crisp::tensor {
namespace {

using crisp::test::error_of;
using crisp::test::golden;

Path file(const std::string& name) { return golden("goldens/model/" + name); }
StateDict raw(const std::string& name) { return read_safetensors(file(name)).tensors; }

bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

TEST(Dinov2Names, StylesAreRecognised) {
  EXPECT_EQ(detect_style(raw("dinov2.safetensors")), NameStyle::kDino);
  EXPECT_EQ(detect_style(raw("hub_dinov2/model.safetensors")), NameStyle::kDinoHub);
  EXPECT_EQ(detect_style(raw("hub_dinov2_v5.safetensors")), NameStyle::kDinoHub5);
  EXPECT_EQ(detect_style({{"encoder.blocks.0.attn.qkv.weight", torch::zeros(1)}}), NameStyle::kOurs);
}

TEST(Dinov2Names, OursAreTheOfficialOnesBelowTheEncoder) {
  StateDict official = raw("dinov2.safetensors");
  const StateDict ours = to_our_names(official, NameStyle::kDino);
  ASSERT_TRUE(official.contains("mask_token"));
  official.erase("mask_token");
  EXPECT_EQ(ours.size(), official.size());
  for (const auto& [name, tensor] : official) {
    ASSERT_TRUE(ours.contains("encoder." + name)) << name;
    EXPECT_TRUE(torch::equal(ours.at("encoder." + name), tensor)) << name;
  }
}

TEST(Dinov2Names, HubStylesGiveTheSameNetwork) {
  const StateDict given = raw("hub_dinov2/model.safetensors");
  const StateDict hub = to_our_names(given, NameStyle::kDinoHub);
  const StateDict hub5 = to_our_names(raw("hub_dinov2_v5.safetensors"), NameStyle::kDinoHub5);
  const StateDict official = to_our_names(raw("dinov2.safetensors"), NameStyle::kDino);
  EXPECT_EQ(hub.size(), hub5.size());
  EXPECT_EQ(hub.size(), official.size());
  for (const auto& [name, tensor] : hub) {
    EXPECT_TRUE(official.contains(name)) << name;
    ASSERT_TRUE(hub5.contains(name)) << name;
    EXPECT_TRUE(torch::equal(tensor, hub5.at(name).to(torch::kFloat))) << name;
  }
  const torch::Tensor& all = hub.at("encoder.blocks.2.attn.qkv.weight");
  const std::string stem = "encoder.layer.2.attention.attention.";
  EXPECT_TRUE(torch::equal(all, torch::cat({given.at(stem + "query.weight"), given.at(stem + "key.weight"),
                                            given.at(stem + "value.weight")})));
}

TEST(Dinov2Names, WholeModelsAndPartsThatDoNotFit) {
  const StateDict ours =
      to_our_names({{"dinov2.embeddings.cls_token", torch::zeros({1, 1, 4})},
                    {"dinov2.layernorm.weight", torch::zeros(4)},
                    {"dinov2.encoder.layer.0.attention.attention.query.weight", torch::zeros({4, 4})},
                    {"dinov2.encoder.layer.0.attention.attention.key.weight", torch::zeros({3, 4})},
                    {"classifier.weight", torch::zeros({10, 8})}},
                   NameStyle::kDinoHub);
  EXPECT_TRUE(ours.contains("encoder.cls_token"));
  EXPECT_TRUE(ours.contains("encoder.norm.weight"));
  EXPECT_TRUE(ours.contains("encoder.blocks.0.attn.query.weight"));
  EXPECT_TRUE(ours.contains("classifier.weight"));
}

TEST(Dinov2Names, NamesForTheHubStayOurs) {
  const StateDict back = to_hub_names({{"encoder.blocks.0.norm1.weight", torch::zeros(1)}});
  EXPECT_TRUE(back.contains("encoder.blocks.0.norm1.weight"));
}

TEST(Dinov2Names, RegistersAndGatedLayersAreRefusedByName) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& source, const std::string& name) {
    StateDict tensors = raw(source);
    tensors.emplace(name, torch::zeros({1, 4, 8}));
    const Path path = folder.path() / "x.safetensors";
    write_safetensors(path, tensors);
    return error_of([&] { read_checkpoint(path); });
  };
  const std::string registers = refused("dinov2.safetensors", "register_tokens");
  EXPECT_TRUE(says(registers, "'register_tokens'") && says(registers, "x.safetensors")) << registers;
  EXPECT_TRUE(
      says(refused("hub_dinov2/model.safetensors", "embeddings.register_tokens"), "'embeddings.register_tokens'"));
  EXPECT_TRUE(says(refused("dinov2.safetensors", "blocks.0.mlp.w12.weight"), "'blocks.0.mlp.w12.weight'"));
  EXPECT_TRUE(says(refused("hub_dinov2/model.safetensors", "encoder.layer.0.mlp.weights_in.weight"), "SwiGLU"));
}

TEST(Dinov2Checkpoint, SaysWhatItIs) {
  const Checkpoint small = read_checkpoint(file("dinov2.safetensors"));
  EXPECT_EQ(small.arch, "custom");
  EXPECT_EQ(small.head, "none");
  EXPECT_EQ(small.layer_norm_eps, 1e-6);
  const Checkpoint hub = read_checkpoint(file("hub_dinov2"));
  EXPECT_EQ(hub.heads, 4);
  EXPECT_EQ(hub.description, "hub folder, hub DINOv2 names, custom, f32");
  const Checkpoint real = read_checkpoint(crisp::test::project_folder() / "weights/dinov2_vits14.safetensors");
  EXPECT_EQ(real.arch, "vit_s14");
  EXPECT_EQ(real.description, "safetensors file, DINOv2 names, vit_s14, fp16");
  EXPECT_EQ(count_elements(real.tensors), 22'056'192);
}

TEST(Dinov2Checkpoint, HubConfigMustFit) {
  const TemporaryFolder folder;
  std::filesystem::copy(file("hub_dinov2"), folder.path() / "hub");
  const Path config = folder.path() / "hub" / "config.json";
  const std::string text = read_text(config);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    write_atomic(config, changed.replace(at, from.size(), to));
    return error_of([&] { read_checkpoint(config.parent_path()); });
  };
  EXPECT_TRUE(says(with("\"num_attention_heads\": 4", "\"num_attention_heads\": 3"), "do not divide"));
  EXPECT_TRUE(says(with("\"num_attention_heads\": 4", "\"num_attention_heads\": 0"), "num_attention_heads"));
  EXPECT_TRUE(says(with("\"patch_size\": 14", "\"patch_size\": \"x\""), "patch_size"));
  EXPECT_TRUE(says(with("\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\""), "hidden_act"));
  EXPECT_TRUE(says(with("\"layer_norm_eps\": 1e-06", "\"layer_norm_eps\": 0"), "layer_norm_eps"));
  EXPECT_TRUE(says(with("\"model_type\": \"dinov2\"", "\"model_type\": \"bert\""), "dinov2 was expected"));
  EXPECT_EQ(with("\"patch_size\": 14", "\"patch_size\": 14"), "no error");
}

// Damaged shapes are another encoder or none, never a crash.
TEST(Dinov2Checkpoint, OddShapesAreNoEncoder) {
  StateDict state = to_our_names(raw("dinov2.safetensors"), NameStyle::kDino);
  ASSERT_TRUE(vit_shape(state).has_value());
  const auto with = [&](const std::string& name, const torch::Tensor& value) {
    StateDict other = state;
    other[name] = value;
    return vit_shape(other).has_value();
  };
  EXPECT_FALSE(with("encoder.pos_embed", torch::zeros({1, 25, 128})));
  EXPECT_FALSE(with("encoder.pos_embed", torch::zeros({1, 1, 128})));
  EXPECT_FALSE(with("encoder.pos_embed", torch::zeros({1, 0, 128})));
  EXPECT_FALSE(with("encoder.patch_embed.proj.weight", torch::zeros({0, 3, 14, 14})));
  EXPECT_FALSE(with("encoder.patch_embed.proj.weight", torch::zeros({128})));
  EXPECT_FALSE(with("encoder.blocks.0.mlp.fc1.weight", torch::zeros({100, 128})));
}

}  // namespace
}  // namespace crisp::tensor
