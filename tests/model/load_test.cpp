// Networks from files: hub folders in both name styles, the original code's .pth, our own model file.
#include "crisp/model/load.h"

#include "crisp/base/error.h"
#include "crisp/model/mit.h"
#include "crisp/tensor/model_file.h"
#include "crisp/tensor/safetensors.h"
#include "crisp/tensor/state_dict.h"
#include "tests/model/tiny.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

torch::Tensor logits_of(model::Segmenter& network, const torch::Tensor& input) {
  const torch::NoGradGuard no_grad;
  return network->forward(input).logits;
}

TEST(Load, HubFoldersAndOriginalNamesGiveTheirLogits) {
  const tensor::StateDict hf = read_golden("model/hf_eval.safetensors");
  const torch::Tensor input = hf.at("33x47.input");
  model::Segmenter hub = model::load_segmenter(golden("goldens/model/hub"));
  expect_close("hub", logits_of(hub, input), hf.at("33x47.logits"));
  model::Segmenter newer = model::load_segmenter(golden("goldens/model/hub_v5"));  // stored in bf16
  expect_close("hub_v5", logits_of(newer, input), hf.at("33x47.logits"), 0.05);
  model::Segmenter original = model::load_segmenter(golden("goldens/model/original.pth"));
  EXPECT_EQ(original->config.encoder.layer_norm_eps, 1e-6);
  expect_close("original", logits_of(original, input),
               read_golden("model/original_eval.safetensors").at("33x47.logits"));
}

TEST(Load, OurModelFileIsCompleteByItself) {
  const TemporaryFolder folder;
  torch::manual_seed(7);
  model::SegmenterConfig config = tiny_config("A6");
  config.encoder = model::encoder_config("mit_b0");
  config.classes = {"background", "cat", "dog", "sheep", "Straße"};
  config.head.hidden = 24;
  config.head.modulation_minmax = true;
  config.head.boundary_on_e1 = true;
  config.head.propagate = 3;
  model::Segmenter network = model::make_segmenter(config);
  network->eval();
  const Path file = folder.path() / "model.safetensors";
  model::save_segmenter(file, network, torch::kFloat, {{"licence", "Apache-2.0"}});
  model::Segmenter again = model::load_segmenter(file);
  model::Segmenter from_run = model::load_segmenter(folder.path());  // a run folder holds model.safetensors
  EXPECT_EQ(again->config.classes, config.classes);
  EXPECT_EQ(model::to_json_text(again->config.head), model::to_json_text(config.head));
  const torch::Tensor input = torch::randn({1, 3, 40, 56});
  EXPECT_TRUE(torch::equal(logits_of(again, input), logits_of(network, input)));
  EXPECT_TRUE(torch::equal(logits_of(from_run, input), logits_of(network, input)));
}

TEST(Load, AnEncoderAloneCannotSegment) {
  const Path file = project_folder() / "weights" / "mit_b0.safetensors";
  try {
    model::load_segmenter(file);
    FAIL() << "an encoder was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("without a segmentation head"), std::string::npos) << error.what();
  }
  model::Mit encoder(model::encoder_config("mit_b0"));
  model::load_encoder(*encoder, file);
  EXPECT_TRUE(torch::isfinite(encoder->forward(torch::randn({1, 3, 64, 64}))[3]).all().item<bool>());
  model::Mit larger(model::encoder_config("mit_b1"));
  EXPECT_THROW(model::load_encoder(*larger, file), Error);
}

TEST(Load, HeadOptionsAreChecked) {
  model::HeadConfig head;
  const auto problem = [&](const std::string& text) {
    return error_of([&] { model::read_json_text(text, "m.safetensors", head); });
  };
  EXPECT_EQ(problem(R"({"fusion": "glue"})"), "m.safetensors: head option 'fusion' has the unknown value \"glue\"");
  EXPECT_EQ(problem(R"({"colour": 1})"),
            "m.safetensors: unknown head option 'colour'; the version of the program that wrote the file can read it");
  EXPECT_TRUE(problem(R"({"hidden": "many"})").starts_with("m.safetensors: head options are damaged: "));
  EXPECT_TRUE(problem("{").starts_with("m.safetensors: head options are damaged: "));
  model::read_json_text(R"({"fusion": "concat", "dropout": 0.25})", "m.safetensors", head);
  EXPECT_EQ(head.fusion, model::Fusion::kConcat);
  EXPECT_EQ(head.dropout, 0.25);
}

// Earlier versions wrote the option into every file, empty where there was no such network.
TEST(Load, AFileWithARecogniserIsRefusedOneWithoutIsNot) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "old.safetensors";
  const model::Segmenter network = model::make_segmenter(tiny_config("A6"));
  const auto write = [&](const std::string& recogniser) {
    tensor::write_model_file(file, tensor::state_of(*network),
                             {.arch = "custom",
                              .head = "crispformer",
                              .width = network->config.head.width,
                              .classes = network->config.classes,
                              .options = R"({"recogniser": ")" + recogniser + R"("})"},
                             torch::kFloat);
  };
  write("");
  EXPECT_EQ(error_of([&] { model::load_segmenter(file); }), "no error");
  write("efficientnet_lite2");
  EXPECT_EQ(
      error_of([&] { model::load_segmenter(file); }),
      file.string() + ": unknown head option 'recogniser'; the version of the program that wrote the file can read it");
}

// What a file says of itself goes on to what is made of it, and so does its precision.
TEST(Load, AChangedModelKeepsWhatItsFileSays) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "m.safetensors", changed = folder.path() / "changed.safetensors";
  model::Segmenter network = model::make_segmenter(tiny_config("A6"));
  network->eval();
  model::save_segmenter(file, network);
  model::save_changed(changed, network, file, {});
  EXPECT_EQ(tensor::read_safetensors(changed).tensors.at("head.classifier.weight").scalar_type(), torch::kFloat);
  model::save_segmenter(file, network, torch::kHalf, {{"labels", "masks"}, {"by", "one"}});
  model::save_changed(changed, network, file, {{"by", "another"}});
  const tensor::NamedTensors read = tensor::read_safetensors(changed);
  EXPECT_EQ(read.tensors.at("head.classifier.weight").scalar_type(), torch::kHalf);
  EXPECT_EQ(read.metadata.at("labels"), "masks");
  EXPECT_EQ(read.metadata.at("by"), "another");
  model::Segmenter again = model::load_segmenter(changed);
  const torch::Tensor input = torch::randn({1, 3, 40, 56});
  expect_close("half", logits_of(again, input), logits_of(network, input), 0.05);
}

}  // namespace
}  // namespace crisp::test
