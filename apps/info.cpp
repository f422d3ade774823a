#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/base/version.h"
#include "crisp/model/cost.h"
#include "crisp/model/load.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/cuda.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

using Json = nlohmann::ordered_json;

Json program_facts(const CommandLine& line) {
  Json devices = Json::array({"cpu"});
  if (torch::cuda::is_available()) {
    const auto count = static_cast<int>(torch::cuda::device_count());
    for (int i = 0; i < count; ++i) devices.push_back(fmt::format("cuda:{}", i));
  }
  return {{"version", version()},
          {"commit", commit()},
          {"build", build_type()},
          {"compiler", __VERSION__},
          {"cuda_build", tensor::built_with_cuda()},
          {"torch", TORCH_VERSION},
          {"devices", devices},
          {"threads", line.threads}};
}

void print_facts(const Json& facts) {
  for (const auto& [name, value] : facts.items()) {
    fmt::print("{:<12} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

struct CostOptions {
  std::string arch, head = "crispformer", ablation, classes = "21";
  int64_t width = 0, size = 512;
};

int print_cost(const CostOptions& options, bool json) {
  model::SegmenterConfig config;
  config.encoder = model::encoder_config(options.arch);
  config.classes = read_classes(options.classes);
  const int64_t width = options.width > 0 ? options.width : model::default_width(options.arch);
  const std::string row = !options.ablation.empty()                                        ? options.ablation
                          : model::parse_head(options.head) == model::HeadKind::kSegformer ? "A0"
                                                                                           : "A6";
  config.head = model::ablation_row(row, width, static_cast<int64_t>(config.classes.size()));
  model::Segmenter network(config);
  std::vector<model::PartCost> parts = model::cost_of(network, options.size, options.size);
  const auto decoder = std::ranges::find_if(parts, [](const model::PartCost& p) { return !p.encoder; });
  const std::vector<model::PartCost> stages(parts.begin(), decoder), rest(decoder, parts.end());
  const model::PartCost encoder = total_of(stages, "encoder"), head = total_of(rest, "head"), total = total_of(parts);
  const auto bytes = static_cast<uint64_t>(total.parameters) * 4;
  const auto giga = [](int64_t macs) { return static_cast<double>(macs) / 1e9; };
  if (json) {
    const auto facts = [&](const model::PartCost& p) {
      return Json{
          {"name", p.name}, {"parameters", p.parameters}, {"gmac", giga(p.macs)}, {"executed_gmac", giga(p.executed)}};
    };
    Json list = Json::array();
    for (const model::PartCost& p : parts) list.push_back(facts(p));
    const Json out = {{"arch", options.arch},
                      {"row", row},
                      {"head", model::name_of(config.head.kind)},
                      {"width", width},
                      {"classes", config.classes.size()},
                      {"size", options.size},
                      {"parts", list},
                      {"encoder", facts(encoder)},
                      {"decoder", facts(head)},
                      {"total", facts(total)},
                      {"parameters", total.parameters},
                      {"gmac", giga(total.macs)},
                      {"file_bytes_f32", bytes},
                      {"file_bytes_fp16", bytes / 2}};
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{} with the {} head (row {}), width {}, {} classes, {}x{}\n\n", options.arch,
             model::name_of(config.head.kind), row, width, config.classes.size(), options.size, options.size);
  fmt::print("{:<18} {:>13} {:>10} {:>12}\n", "part", "parameters", "GMAC", "executed");
  const auto print = [&](const model::PartCost& p) {
    fmt::print("{:<18} {:>13} {:>10.3f} {:>12.3f}\n", p.name, p.parameters, giga(p.macs), giga(p.executed));
  };
  for (const model::PartCost& p : parts) print(p);
  fmt::print("{:-<56}\n", "");
  print(encoder);
  print(head);
  print(total);
  fmt::print(
      "\nGMAC counts the layers as written, as papers do; executed is what our inference computes, with linear\n"
      "layers merged before upsampling and the boundary head left out.\n"
      "File: {} in f32, {} in fp16.\n",
      format_bytes(bytes), format_bytes(bytes / 2));
  return 0;
}

int print_file(const std::string& path, bool tensors, bool json) {
  const tensor::Checkpoint checkpoint = tensor::read_checkpoint(model::model_inside(path));
  const int64_t elements = tensor::count_elements(checkpoint.tensors);
  if (json) {
    Json list = Json::array();
    for (const auto& [name, value] : checkpoint.tensors) {
      list.push_back(
          {{"name", name}, {"dtype", tensor::dtype_name(value.scalar_type())}, {"shape", value.sizes().vec()}});
    }
    const Json out = {{"file", checkpoint.file.string()},
                      {"description", checkpoint.description},
                      {"names", tensor::style_name(checkpoint.style)},
                      {"arch", checkpoint.arch},
                      {"head", checkpoint.head},
                      {"width", checkpoint.width},
                      {"class_count", checkpoint.class_count},
                      {"classes", checkpoint.classes},
                      {"layer_norm_eps", checkpoint.layer_norm_eps},
                      {"elements", elements},
                      {"metadata", checkpoint.metadata},
                      {"tensors", list}};
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{}\n{}\n\n", checkpoint.file.string(), checkpoint.description);
  fmt::print("{:<12} {}\n{:<12} {}\n", "names", tensor::style_name(checkpoint.style), "arch", checkpoint.arch);
  const std::string none = checkpoint.arch == "unknown" ? "none, and no encoder that trainings start from"
                                                        : "none: an encoder, to start a training from";
  fmt::print("{:<12} {}\n", "head", checkpoint.head == "none" ? none : checkpoint.head);
  if (checkpoint.width > 0) fmt::print("{:<12} {}\n", "width", checkpoint.width);
  if (checkpoint.class_count > 0) {
    fmt::print("{:<12} {}{}\n", "classes", checkpoint.class_count,
               checkpoint.classes.empty() ? " (no names)" : ": " + join_some(checkpoint.classes, 24));
  }
  fmt::print("{:<12} {} tensors, {} numbers\n", "tensors", checkpoint.tensors.size(), elements);
  for (const auto& [name, value] : checkpoint.metadata) {
    if (value.size() < 400) fmt::print("{:<12} {} = {}\n", "metadata", name, value);
  }
  if (!tensors) return 0;
  fmt::print("\n");
  for (const auto& [name, value] : checkpoint.tensors) {
    fmt::print("{:<56} {:<5} {}\n", name, tensor::dtype_name(value.scalar_type()), tensor::shape_text(value.sizes()));
  }
  return 0;
}

}  // namespace

int run_info(const Arguments& arguments) {
  CommandLine line("info", "Tells about the program, about an architecture (--arch), or about a weight file or folder.",
                   "  crispformer info\n"
                   "  crispformer info --arch mit_b5 --head segformer --width 256 --classes 21 --size 512\n"
                   "  crispformer info weights/mit_b0.safetensors --tensors\n");
  CostOptions cost;
  std::string path;
  bool tensors = false, json = false;
  line.app.add_option("file", path, "weights: a .safetensors, .pth or .bin file, a hub folder, a run folder");
  line.app.add_option("--arch", cost.arch, "mit_b0 .. mit_b5: parameters and GMAC of each part");
  line.app.add_option("--head", cost.head, "segformer or crispformer");
  line.app.add_option("--ablation", cost.ablation, "a row A0 .. A6 of the component table instead of --head");
  line.app.add_option("--width", cost.width, "channels of the head; 0: 256 for B0 and B1, 384 above");
  line.app.add_option("--classes", cost.classes, "a number, the background counted, or a file of names");
  line.app.add_option("--size", cost.size, "side of the square image in pixels")->check(CLI::Range(1, 65536));
  line.app.add_flag("--tensors", tensors, "list every tensor of the file");
  line.app.add_flag("--json", json, "the same for machines");
  if (!line.parse(arguments)) return 0;
  if (!path.empty() && !cost.arch.empty()) throw UsageError("give a file or --arch, not both");
  if (!path.empty()) return print_file(path, tensors, json);
  if (!cost.arch.empty()) return print_cost(cost, json);
  const Json facts = program_facts(line);
  if (json) {
    fmt::print("{}\n", facts.dump(2));
  } else {
    print_facts(facts);
  }
  return 0;
}

}  // namespace crisp::apps
