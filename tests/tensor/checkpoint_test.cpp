#include "crisp/tensor/checkpoint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/tensor/model_file.h"
#include "crisp/tensor/safetensors.h"
#include "tests/support/support.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::mentions;
using test::sample;
namespace fs = std::filesystem;

const std::vector<std::string> kNames = {"wall", "sky", "a", "b", "c", "d", "e", "f", "g", "h", "tree"};

TEST(Checkpoint, HubFolder) {
  const Checkpoint hub = read_checkpoint(sample("hub"));
  EXPECT_EQ(hub.style, NameStyle::kHub);
  EXPECT_EQ(hub.arch, "custom");
  EXPECT_EQ(hub.head, "segformer");
  EXPECT_EQ(hub.width, 6);
  EXPECT_EQ(hub.class_count, 11);
  EXPECT_EQ(hub.classes, kNames);  // by number, not by text: "10" comes last
  EXPECT_EQ(hub.layer_norm_eps, 1e-5);
  EXPECT_EQ(hub.description, "hub folder, hub names, custom, head segformer of width 6, 11 classes, f32");
  EXPECT_TRUE(hub.tensors.contains("encoder.stages.1.blocks.1.attn.kv.bias"));
}

TEST(Checkpoint, OriginalFileUsesItsOwnEpsilon) {
  const Checkpoint original = read_checkpoint(sample("original.pth"));
  EXPECT_EQ(original.style, NameStyle::kOriginal);
  EXPECT_EQ(original.layer_norm_eps, 1e-6);
  EXPECT_EQ(original.head, "segformer");
  EXPECT_EQ(original.class_count, 11);
  EXPECT_TRUE(original.classes.empty());
}

TEST(Checkpoint, EncoderAlone) {
  const Checkpoint encoder = read_checkpoint(sample("encoder_legacy.pth"));
  EXPECT_EQ(encoder.head, "none");
  EXPECT_EQ(encoder.width, 0);
  EXPECT_EQ(encoder.class_count, 10);
  EXPECT_EQ(encoder.description, "PyTorch file, original SegFormer names, custom, 10 classes, fp16");
}

TEST(Checkpoint, RealWeights) {
  const Path weights = crisp::test::project_folder() / "weights";
  EXPECT_EQ(read_checkpoint(weights / "mit_b0.safetensors").arch, "mit_b0");
  const Checkpoint b1 = read_checkpoint(weights / "mit_b1.safetensors");
  EXPECT_EQ(b1.arch, "mit_b1");
  EXPECT_EQ(b1.head, "none");
  EXPECT_EQ(b1.class_count, 1000);
}

TEST(Checkpoint, AFileIsKnownByItsContentsWhenItsNameSaysNothing) {
  const TemporaryFolder folder;
  fs::copy_file(sample("original.pth"), folder.path() / "weights.dat");
  fs::copy_file(sample("hub5.safetensors"), folder.path() / "other.dat");
  EXPECT_EQ(read_checkpoint(folder.path() / "weights.dat").style, NameStyle::kOriginal);
  EXPECT_EQ(read_checkpoint(folder.path() / "other.dat").style, NameStyle::kHub5);
}

TEST(Checkpoint, BadFoldersAndFiles) {
  const TemporaryFolder folder;
  EXPECT_TRUE(mentions(error_of([&] { read_checkpoint(folder.path() / "absent.safetensors"); }), "No such file"));
  EXPECT_TRUE(mentions(error_of([&] { read_checkpoint(folder.path()); }), "no config.json"));
  fs::copy_file(sample("hub/config.json"), folder.path() / "config.json");
  EXPECT_TRUE(mentions(error_of([&] { read_checkpoint(folder.path()); }), "neither model.safetensors"));
}

// A hub folder whose config.json is changed by `change`.
std::string folder_error(const std::function<void(nlohmann::json&)>& change) {
  const TemporaryFolder folder;
  nlohmann::json config = nlohmann::json::parse(read_text(sample("hub/config.json")));
  change(config);
  write_atomic(folder.path() / "config.json", config.dump());
  fs::copy_file(sample("hub/model.safetensors"), folder.path() / "model.safetensors");
  return error_of([&] { read_checkpoint(folder.path()); });
}

TEST(Checkpoint, ConfigsThatContradictTheTensorsOrThemselves) {
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["id2label"].erase("10"); }), "names 10 classes"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["id2label"]["x"] = "y"; }), "bad entry 'x'"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["id2label"]["99999999"] = "y"; }), "bad entry"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["id2label"] = 3; }), "id2label"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["depths"] = "3"; }), "'depths'"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["hidden_sizes"] = {1, 2, -3, 4}; }), "'hidden_sizes'"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) {
                         c["hidden_sizes"] = {32, 64, 160, 256};
                         c["depths"] = {2, 2, 2, 2};
                       }),
                       "states the architecture mit_b0 but holds the tensors of custom"));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c["model_type"] = "bert"; }), "\"bert\""));
  EXPECT_TRUE(mentions(folder_error([](auto& c) { c = nlohmann::json::array(); }), "JSON object"));
}

TEST(Checkpoint, DamagedConfig) {
  const TemporaryFolder folder;
  fs::copy_file(sample("hub/model.safetensors"), folder.path() / "model.safetensors");
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\":\xFF}"), "{\"a\":" + std::string(5'000'000, '[')}) {
    write_atomic(folder.path() / "config.json", text);
    EXPECT_TRUE(mentions(error_of([&] { read_checkpoint(folder.path()); }), "config.json: "));
  }
}

TEST(Checkpoint, ShardedFolder) {
  const TemporaryFolder folder;
  const StateDict whole = read_safetensors(sample("hub/model.safetensors")).tensors;
  StateDict parts[2];
  nlohmann::json index;
  int next = 0;
  for (const auto& [name, tensor] : whole) {
    parts[next][name] = tensor;
    index["weight_map"][name] = next == 0 ? "a.safetensors" : "b.safetensors";
    next = 1 - next;
  }
  write_safetensors(folder.path() / "a.safetensors", parts[0]);
  write_safetensors(folder.path() / "b.safetensors", parts[1]);
  write_atomic(folder.path() / "model.safetensors.index.json", index.dump());
  fs::copy_file(sample("hub/config.json"), folder.path() / "config.json");
  EXPECT_EQ(read_checkpoint(folder.path()).tensors.size(), read_checkpoint(sample("hub")).tensors.size());

  index["weight_map"]["evil"] = "../../outside.safetensors";
  write_atomic(folder.path() / "model.safetensors.index.json", index.dump());
  EXPECT_TRUE(mentions(error_of([&] { read_checkpoint(folder.path()); }), "not a file name"));
}

class ModelFile : public testing::Test {
 protected:
  ModelFile() {
    meta_ = {.arch = "custom",
             .head = "segformer",
             .width = 6,
             .classes = kNames,
             .layer_norm_eps = 1e-6,
             .options = R"({"dropout":0.1})",
             .extra = {{"licence", "Apache-2.0"}}};
  }
  TemporaryFolder folder_;
  Path path_ = folder_.path() / "model.safetensors";
  StateDict tensors_ = read_checkpoint(sample("hub")).tensors;
  ModelMeta meta_;
};

TEST_F(ModelFile, IsCompleteByItself) {
  write_model_file(path_, tensors_, meta_);
  const Checkpoint read = read_checkpoint(path_);
  EXPECT_EQ(read.style, NameStyle::kOurs);
  EXPECT_EQ(read.arch, "custom");
  EXPECT_EQ(read.head, "segformer");
  EXPECT_EQ(read.width, 6);
  EXPECT_EQ(read.classes, kNames);
  EXPECT_EQ(read.layer_norm_eps, 1e-6);
  EXPECT_EQ(read.options, R"({"dropout":0.1})");
  EXPECT_EQ(read_model_meta(read.metadata, "x").extra.at("licence"), "Apache-2.0");
  EXPECT_EQ(read.metadata.at("format"), "crispformer");
  ASSERT_EQ(read.tensors.size(), tensors_.size());
  for (const auto& [name, tensor] : tensors_) EXPECT_TRUE(torch::equal(read.tensors.at(name), tensor)) << name;
}

TEST_F(ModelFile, StoresHalvesButNoInfinity) {
  tensors_["head.norm.running_var"].fill_(1e6);
  write_model_file(path_, tensors_, meta_, torch::kFloat16);
  const StateDict read = read_safetensors(path_).tensors;
  EXPECT_EQ(read.at("head.fuse.weight").scalar_type(), torch::kFloat16);
  EXPECT_EQ(read.at("head.norm.running_var").scalar_type(), torch::kFloat32);
  EXPECT_EQ(read.at("head.norm.running_var")[0].item<float>(), 1e6f);
  EXPECT_EQ(read.at("head.norm.num_batches_tracked").scalar_type(), torch::kInt64);
  write_model_file(path_, tensors_, meta_, torch::kBFloat16);
  EXPECT_EQ(read_safetensors(path_).tensors.at("head.norm.running_var").scalar_type(), torch::kBFloat16);
}

TEST_F(ModelFile, BadMetadataNamesTheField) {
  write_model_file(path_, tensors_, meta_);
  const Metadata good = read_safetensors(path_).metadata;
  const auto refusal = [&](const std::string& key, const char* value) {
    Metadata bad = good;
    bad[key] = value;
    write_safetensors(path_, tensors_, bad);
    const std::string message = error_of([&] { read_checkpoint(path_); });
    EXPECT_TRUE(message.starts_with(path_.string())) << message;
    return message;
  };
  EXPECT_TRUE(mentions(refusal("format_version", "2"), "newer version"));
  EXPECT_TRUE(mentions(refusal("format_version", "x"), "format_version"));
  EXPECT_TRUE(mentions(refusal("head", "other"), "'other' is unknown"));
  EXPECT_TRUE(mentions(refusal("width", "-1"), "width"));
  EXPECT_TRUE(mentions(refusal("width", "60000"), "states a head of width 60000 but holds one of width 6"));
  EXPECT_TRUE(mentions(refusal("layer_norm_eps", "nan"), "layer_norm_eps"));
  EXPECT_TRUE(mentions(refusal("classes", "[1]"), "classes"));
  EXPECT_TRUE(mentions(refusal("classes", "[\"one\"]"), "names 1 classes but its classifier has 11"));
  EXPECT_TRUE(mentions(refusal("options", "[]"), "options"));
  EXPECT_TRUE(mentions(refusal("options", "{"), "options"));
  EXPECT_TRUE(mentions(refusal("arch", "mit_b3"), "mit_b3"));
  Metadata bad = good;
  bad.erase("width");
  write_safetensors(path_, tensors_, bad);
  EXPECT_TRUE(mentions(error_of([&] { read_checkpoint(path_); }), "lacks 'width'"));
}

TEST_F(ModelFile, ClassNamesMustBeText) {
  meta_.classes[0] = "\xFF\xFE";
  EXPECT_TRUE(mentions(error_of([&] { write_model_file(path_, tensors_, meta_); }), "class names"));
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace crisp::tensor
