// Parameters and multiply-accumulates against counts by transformers and torch's flop counter.
#include "crisp/model/cost.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

model::Segmenter network(const std::string& arch, const std::string& row, int64_t width) {
  model::SegmenterConfig config;
  config.encoder = model::encoder_config(arch);
  config.head = model::ablation_row(row, width, 21);
  config.classes = voc_classes();
  return model::Segmenter(config);
}

TEST(Cost, ParametersMatchTransformers) {
  const auto facts = nlohmann::json::parse(read_text(golden("goldens/model/hf_facts.json")));
  for (const std::string& arch : model::known_archs()) {
    for (const int64_t width : {256, 768}) {
      model::Segmenter net = network(arch, "A0", width);
      const auto parts = model::cost_of(net, 512, 512);
      const auto& expected = facts["parameters"][arch];
      EXPECT_EQ(model::total_of(parts).parameters, expected["segformer_" + std::to_string(width)].get<int64_t>());
      EXPECT_EQ(model::total_of({parts.begin(), parts.begin() + 4}).parameters, expected["encoder"].get<int64_t>());
    }
  }
  model::Segmenter b5 = network("mit_b5", "A0", 256);
  EXPECT_EQ(model::total_of(model::cost_of(b5, 512, 512)).parameters, 81974229);
}

TEST(Cost, MacsMatchTheFlopCounter) {
  const auto facts = nlohmann::json::parse(read_text(golden("goldens/model/hf_facts.json")));
  int compared = 0;
  for (const auto& [key, expected] : facts["macs"].items()) {  // "mit_b0 width 256 512x512"
    const std::string arch = key.substr(0, 6), size = key.substr(key.rfind(' ') + 1);
    const int64_t width = std::stoll(key.substr(13)), height = std::stoll(size);
    const int64_t columns = std::stoll(size.substr(size.find('x') + 1));
    model::Segmenter net = network(arch, "A0", width);
    const auto parts = model::cost_of(net, height, columns);
    EXPECT_EQ(model::total_of(parts).macs, expected["total"].get<int64_t>()) << key;
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(parts[i].macs, expected["stages"][i].get<int64_t>()) << key;
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

TEST(Cost, DecoderPartsMatchTheIndependentVersion) {
  const auto facts = nlohmann::json::parse(read_text(golden("goldens/model/crisp_facts.json")));
  const std::map<std::string, std::string> names = {{"projection", "project"},     {"dynamic fusion", "score"},
                                                    {"variance head", "variance"}, {"classifier", "classifier"},
                                                    {"refiner", "refine"},         {"boundary head", "boundary"}};
  for (const auto& [arch, key] : std::map<std::string, std::string>{{"mit_b0", "mit_b0"}, {"mit_b5", "mit_b2..b5"}}) {
    const auto& expected = facts["decoders"][key];
    model::Segmenter net = network(arch, "A6", expected["width"].get<int64_t>());
    int compared = 0;
    for (const model::PartCost& part : model::cost_of(net, 512, 512)) {
      const auto name = names.find(part.name);
      if (name == names.end()) continue;
      const int64_t modulation = part.name == "dynamic fusion" ? 4 : 0;
      EXPECT_EQ(part.parameters, expected["parameters"][name->second].get<int64_t>() + modulation) << part.name;
      EXPECT_EQ(part.macs, expected["macs_512x512"][name->second].get<int64_t>()) << part.name;
      ++compared;
    }
    EXPECT_EQ(compared, 6);
  }
}

TEST(Cost, UnknownNamesAreRefused) {
  EXPECT_THROW(model::encoder_config("mit_b6"), UsageError);
  EXPECT_THROW(model::ablation_row("A7", 256, 21), UsageError);
  EXPECT_THROW(model::parse_head("unet"), UsageError);
}

}  // namespace
}  // namespace crisp::test
