#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "crisp/base/classes.h"
#include "crisp/flow/bench.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_bench(const Arguments& arguments) {
  CommandLine line(
      "bench",
      "Times a network of the given shape: alone, and from a JPEG in memory to a mask; or a step of its training.",
      "  crispformer bench --arch mit_b0 --head crispformer --size 512\n"
      "  crispformer bench --arch mit_b5 --head segformer --batch 16 --dtype fp16 --device cuda --json\n"
      "  crispformer bench --arch vit_s14 --encoder-only --dtype bf16\n"
      "  crispformer bench --train --arch mit_b2 --batch 16 --dtype bf16 --device cuda\n"
      "  crispformer bench --relabel --arch mit_b1 --batch 16 --dtype bf16 --device cuda\n");
  flow::BenchOptions options;
  std::string head = "crispformer", classes = "21", dtype = "f32";
  bool json = false;
  line.app.add_option("--arch", options.arch, "mit_b0 .. mit_b5, vit_s14, vit_b14 or vit_l14");
  line.app.add_option("--head", head, "segformer or crispformer");
  line.app.add_option("--ablation", options.ablation, "a row A0 .. A6 instead of --head");
  line.app.add_option("--width", options.width, "channels of the head; 0 takes the default of the arch");
  line.app.add_option("--classes", classes, "a number, the background counted, or a file of names");
  line.app.add_option("--size", options.size, "side of the square image in pixels; on a ViT 448 if not given")
      ->check(CLI::Range(1, 16384));
  line.app.add_option("--batch", options.batch, "images at once")->check(CLI::Range(1, 1024));
  line.app.add_option("--dtype", dtype, "f32, bf16 or fp16; on the CPU a ViT takes the first two");
  line.app.add_option("--iterations", options.iterations, "timed passes; 0 times for about three seconds");
  line.app.add_option("--warmup", options.warmup, "passes before the timing starts");
  line.app.add_flag("--train", options.train, "time a training step: every loss, backward, optimizer, teacher");
  line.app.add_flag("--relabel", options.relabel,
                    "time the teacher's view, and in how many plain passes it could be had");
  line.app.add_flag("--network-only", options.network_only, "leave out the timing from JPEG to mask");
  line.app
      .add_flag("--encoder-only", options.encoder_only, "of the network the encoder alone; a ViT to its last block")
      ->excludes("--train", "--relabel");
  line.app.add_flag("--boundary", options.boundary, "evaluate the boundary head too");
  line.app.add_flag("--json", json, "figures for machines on stdout");
  if (!line.parse(arguments)) return 0;

  if (options.ablation.empty()) options.ablation = model::parse_head(head) == model::HeadKind::kSegformer ? "A0" : "A6";
  options.classes = static_cast<int64_t>(read_classes(classes).size());
  options.network_only = options.network_only || options.train || options.relabel || options.encoder_only;
  if (const auto& vit = model::encoder_config(options.arch).vit) {
    take_unless_given(line.app, "--size", options.size, vit->side);
  }
  options.device = tensor::parse_device(line.device);
  options.dtype = tensor::parse_dtype(dtype);
  const flow::BenchReport report = flow::bench(options);
  const std::string what = options.train ? "training step" : options.encoder_only ? "encoder" : "forward pass";

  const auto figures = [](const flow::Timing& t) {
    return nlohmann::ordered_json{{"median_ms", t.median_ms},
                                  {"p10_ms", t.p10_ms},
                                  {"p90_ms", t.p90_ms},
                                  {"images_per_s", t.images_per_s},
                                  {"iterations", t.iterations}};
  };
  if (json) {
    nlohmann::ordered_json out = {{"arch", options.arch},
                                  {"what", what},
                                  {"row", options.ablation},
                                  {"size", options.size},
                                  {"batch", options.batch},
                                  {"dtype", tensor::dtype_name(report.dtype)},
                                  {"device", tensor::device_name(options.device)},
                                  {"threads", line.threads},
                                  {"network", figures(report.network)},
                                  {"end_to_end", nullptr},
                                  {"peak_memory_mb", report.peak_memory_mb},
                                  {"parameters", report.parameters}};
    if (options.relabel) {
      out["relabel"] = figures(report.relabel);
      out["relabel_passes"] = report.relabel.median_ms / report.network.median_ms;
    }
    if (!options.network_only) out["end_to_end"] = figures(report.end_to_end);
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{} {} at {}x{}, batch {}, {}, {}, {} threads\n", options.arch, options.ablation, options.size,
             options.size, options.batch, tensor::dtype_name(report.dtype), tensor::device_name(options.device),
             line.threads);
  const auto row = [](const char* name, const flow::Timing& t) {
    fmt::print("  {:<22} {:>9.2f} ms  {:>9.1f} images/s   (10%-90%: {:.2f}-{:.2f} ms, {} passes)\n", name, t.median_ms,
               t.images_per_s, t.p10_ms, t.p90_ms, t.iterations);
  };
  row(what.c_str(), report.network);
  if (options.relabel) {
    row("relabelling", report.relabel);
    fmt::print("  {:<22} {:>9.2f} plain passes\n", "", report.relabel.median_ms / report.network.median_ms);
  }
  if (!options.network_only) row("JPEG to mask", report.end_to_end);
  fmt::print("  {:<22} {:>9.0f} MB\n", "peak memory", report.peak_memory_mb);
  return 0;
}

}  // namespace crisp::apps
