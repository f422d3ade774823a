#include "crisp/model/config.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/model/vit_config.h"

namespace crisp::model {

NLOHMANN_JSON_SERIALIZE_ENUM(Fusion, {{Fusion::kDmf, "dmf"}, {Fusion::kConcat, "concat"}, {Fusion::kMean, "mean"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Modulation, {{Modulation::kOff, "off"},
                                          {Modulation::kLiteral, "literal"},
                                          {Modulation::kPerScale, "per_scale"}})
NLOHMANN_JSON_SERIALIZE_ENUM(UncertaintyInput, {{UncertaintyInput::kVariance, "variance"},
                                                {UncertaintyInput::kEntropy, "entropy"},
                                                {UncertaintyInput::kNone, "none"}})

namespace {

using Json = nlohmann::json;

// The one list of stored options: visit(name, field) for each.
template <typename Head, typename Visit>
void for_each_option(Head& head, Visit&& visit) {
  visit("hidden", head.hidden);
  visit("dropout", head.dropout);
  visit("zoom", head.zoom);
  visit("side", head.side);
  visit("offsets", head.offsets);
  visit("fusion", head.fusion);
  visit("variance", head.variance);
  visit("refine", head.refine);
  visit("boundary", head.boundary);
  visit("boundary_on_e1", head.boundary_on_e1);
  visit("propagate", head.propagate);
  visit("modulation", head.modulation);
  visit("modulation_minmax", head.modulation_minmax);
  visit("temperature", head.temperature);
  visit("uncertainty", head.uncertainty);
}

}  // namespace

const std::vector<std::string>& known_archs() {
  static const std::vector<std::string> names = {"mit_b0", "mit_b1", "mit_b2", "mit_b3", "mit_b4", "mit_b5"};
  return names;
}

EncoderConfig encoder_config(const std::string& arch) {
  static const std::vector<std::array<int64_t, 4>> depths = {{2, 2, 2, 2},  {2, 2, 2, 2},  {3, 4, 6, 3},
                                                             {3, 4, 18, 3}, {3, 8, 27, 3}, {3, 6, 40, 3}};
  for (size_t i = 0; i < known_archs().size(); ++i) {
    if (known_archs()[i] != arch) continue;
    EncoderConfig config;
    config.arch = arch;
    config.depths = depths[i];
    if (i == 0) {
      config.dims = {32, 64, 160, 256};
    } else {
      config.dims = {64, 128, 320, 512};
    }
    return config;
  }
  if (is_vit(arch)) return encoder_config(arch, VitView{.patch = vit_config(arch).patch});
  throw UsageError("unknown arch '{}': it is one of {}, {}", arch, join(known_archs(), ", "), join(known_vits(), ", "));
}

EncoderConfig encoder_config(const std::string& arch, const VitView& view) {
  const int64_t dim = vit_config(arch).dim;
  EncoderConfig config;
  config.arch = arch;
  config.vit = view;
  config.dims = {view.detail, dim, dim, dim};
  return config;
}

int64_t output_cells(const EncoderConfig& encoder, const HeadConfig& head, int64_t pixels) {
  if (!encoder.vit) return (pixels + encoder.strides[0] - 1) / encoder.strides[0];
  const VitView& view = *encoder.vit;
  return pixels / view.patch * (head.propagate > 0 ? std::max(view.fine, view.outline) : view.fine);
}

int64_t default_width(const std::string& arch) {
  if (is_vit(arch)) return 128;
  return arch == "mit_b0" || arch == "mit_b1" ? 256 : 384;
}

HeadConfig ablation_row(const std::string& row, int64_t width, int64_t classes) {
  if (row.size() != 2 || row[0] != 'A' || row[1] < '0' || row[1] > '6') {
    throw UsageError("unknown ablation row '{}': it is one of A0, A1, ..., A6", row);
  }
  const int level = row[1] - '0';
  HeadConfig head;
  head.kind = level == 0 ? HeadKind::kSegformer : HeadKind::kCrispformer;
  head.width = width;
  head.classes = classes;
  head.variance = level >= 2;
  head.refine = level >= 3;
  head.boundary = level >= 4;
  head.modulation = level >= 5 ? Modulation::kPerScale : Modulation::kOff;
  head.uncertainty = level >= 2 ? UncertaintyInput::kVariance : UncertaintyInput::kNone;
  return head;
}

std::string name_of(HeadKind kind) { return kind == HeadKind::kSegformer ? "segformer" : "crispformer"; }

HeadKind parse_head(const std::string& name) {
  if (name == "segformer") return HeadKind::kSegformer;
  if (name == "crispformer") return HeadKind::kCrispformer;
  throw UsageError("unknown head '{}': it is segformer or crispformer", name);
}

std::string to_json_text(const HeadConfig& head) {
  Json json = Json::object();
  for_each_option(head, [&](const char* name, const auto& field) { json[name] = field; });
  return json.dump();
}

void read_json_text(const std::string& text, const std::string& source, HeadConfig& head) {
  try {
    Json json = Json::parse(text.empty() ? "{}" : text);
    for_each_option(head, [&](const char* name, auto& field) {
      const auto at = json.find(name);
      if (at == json.end()) return;
      field = at->template get<std::decay_t<decltype(field)>>();
      // An unknown word for an enum reads as its first value: writing it back shows that.
      if (Json(field) != *at) throw Error("{}: head option '{}' has the unknown value {}", source, name, at->dump());
      json.erase(at);
    });
    // Parts that earlier versions knew: their files name them where they have none, too.
    for (const auto& [name, none] : {std::pair<const char*, Json>{"recogniser", ""}, {"presence", false}}) {
      if (const auto at = json.find(name); at != json.end() && *at == none) json.erase(at);
    }
    if (!json.empty()) {
      throw Error("{}: unknown head option '{}'; the version of the program that wrote the file can read it", source,
                  json.begin().key());
    }
  } catch (const Json::exception& error) {
    throw Error("{}: head options are damaged: {}", source, error.what());
  }
}

}  // namespace crisp::model
