#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/resources.h"
#include "crisp/base/text.h"
#include "crisp/base/version.h"
#include "crisp/flow/predict.h"
#include "crisp/model/load.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

using Json = nlohmann::ordered_json;

const std::set<std::string>& outputs() {
  static const std::set<std::string> names = {"mask", "overlay", "uncertainty", "boundary", "logits"};
  return names;
}

std::set<std::string> parse_save(const std::vector<std::string>& words) {
  std::set<std::string> save;
  for (const std::string& word : words) {
    if (!outputs().contains(word)) {
      throw UsageError("--save {}: it is one of mask, overlay, uncertainty, boundary, logits", word);
    }
    save.insert(word);
  }
  return save;
}

// Other names for the model's classes; their number must be the model's.
ClassNames renamed(const std::string& classes, const ClassNames& model) {
  if (classes.empty()) return model;
  ClassNames names = read_classes(classes);
  if (names.size() != model.size()) {
    throw Error("--classes {}: {} classes, but the model has {}: {}", classes, names.size(), model.size(),
                join_some(model, 6));
  }
  return names;
}

// The model to use where none is named: the one shipped with the program.
Path default_model() {
  if (const Path model = shipped_weights("crispformer_vits_voc.safetensors"); !model.empty()) return model;
  throw UsageError("--model is needed: a model file, a run folder, or a hub folder");
}

Json to_json(const flow::PredictReport& report, const ClassNames& classes) {
  Json images = Json::array(), skipped = Json::array();
  for (const flow::ImageReport& r : report.images) {
    Json shares = Json::object();
    for (size_t k = 0; k < classes.size(); ++k) {
      if (r.class_shares[k] > 0) shares[classes[k]] = r.class_shares[k];
    }
    images.push_back({{"file", r.file},
                      {"name", r.name},
                      {"width", r.width},
                      {"height", r.height},
                      {"shares", shares},
                      {"mean_uncertainty", r.mean_uncertainty},
                      {"mean_entropy", r.mean_entropy},
                      {"ms", r.network_ms}});
  }
  for (const flow::SkippedImage& s : report.skipped) skipped.push_back({{"file", s.file}, {"reason", s.reason}});
  return {{"version", version()}, {"commit", commit()}, {"classes", classes},
          {"images", images},     {"skipped", skipped}, {"seconds", report.seconds}};
}

void print_summary(const flow::PredictReport& report, const ClassNames& classes) {
  for (const flow::ImageReport& r : report.images) {
    std::vector<std::pair<double, std::string>> found;
    for (size_t k = 1; k < classes.size(); ++k) {
      if (r.class_shares[k] >= 0.005) found.emplace_back(r.class_shares[k], classes[k]);
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> words;
    for (const auto& [share, name] : found) words.push_back(fmt::format("{} {:.0f}%", name, 100 * share));
    fmt::print("{}  {}\n", r.name, words.empty() ? "background only" : join(words, ", "));
  }
}

}  // namespace

int run_predict(const Arguments& arguments) {
  CommandLine line("predict",
                   "Cuts out every object in photos. Writes OUT/mask/NAME.png (class indices, VOC colours), "
                   "OUT/overlay/NAME.png and what else --save asks for, and OUT/predictions.json.",
                   "  crispformer predict photo.jpg --model runs/mine --out cut\n"
                   "  crispformer predict photos/ --model model.safetensors --out cut --save mask,uncertainty\n"
                   "  crispformer predict big.png --model hub-folder --out cut --tile 1024 --overlap 128\n"
                   "  crispformer predict photos/ --model runs/mine --out cut --scales 0.5,0.75,1,1.25,1.5 --flip\n");
  std::vector<std::string> inputs, save = {"mask", "overlay"};
  std::string model, classes, dtype = "f32";
  flow::PredictOptions options;
  infer::InferOptions how;
  bool json = false;
  line.app.add_option("images", inputs, "photos (JPEG, PNG) or folders of them")->required();
  line.app.add_option("--model", model, "model file, run folder, hub folder, or the public code's .pth");
  line.app.add_option("--classes", classes, "other names for the model's classes: a file, a number, or voc");
  line.app.add_option("--out", options.out, "folder for the results")->required();
  line.app.add_option("--save", save, "of mask, overlay, uncertainty, boundary, logits")->delimiter(',');
  line.app.add_option("--scales", how.scales, "image scales whose probabilities are averaged")->delimiter(',');
  line.app.add_flag("--flip", how.flip, "each scale mirrored too");
  line.app.add_flag("--full-size", how.full_size,
                    "large photos as they are; else those more than twice as large as what the model learned from are "
                    "worked on at that size");
  line.app.add_option("--tile", how.tiling.tile, "work in tiles of this side (for large photos); 0: whole photos");
  line.app.add_option("--overlap", how.tiling.overlap, "pixels that neighbouring tiles share and blend over");
  line.app.add_option("--batch", options.batch, "photos of one size at once")->check(CLI::Range(1, 1024));
  line.app.add_option("--dtype", dtype, "f32, bf16 or fp16");
  line.app.add_option("--max-pixels", options.limits.max_pixels, "refuse larger photos (decompression bombs)");
  line.app.add_flag("--json", json, "predictions.json on stdout too");
  if (!line.parse(arguments)) return 0;

  options.save = parse_save(save);
  options.workers = line.threads;
  infer::check(how);
  const torch::Device device = tensor::parse_device(line.device);
  const torch::ScalarType type = tensor::parse_dtype(dtype);
  const std::vector<flow::InputImage> images = flow::collect_images(inputs);
  model::Segmenter network = model::load_segmenter(model.empty() ? default_model() : Path(model));
  options.classes = renamed(classes, network->config.classes);
  how.boundary = options.save.contains("boundary");
  if (how.boundary && !network->config.head.boundary) {
    throw UsageError("--save boundary: this model has no boundary head");
  }
  make_folder(options.out);
  write_atomic(options.out / "config.toml", line.effective_config());
  infer::Predictor predictor(network, device, type, how);
  const flow::PredictReport report = flow::predict(predictor, images, options);

  const Json summary = to_json(report, options.classes);
  write_atomic(options.out / "predictions.json", summary.dump(2) + "\n");
  if (json) {
    fmt::print("{}\n", summary.dump(2));
  } else {
    print_summary(report, options.classes);
  }
  if (report.skipped.empty()) return 0;
  for (const flow::SkippedImage& s : report.skipped) log_warning("skipped {}", s.reason);
  throw Error("{} of {} images could not be read and were skipped (listed in {})", report.skipped.size(), images.size(),
              (options.out / "predictions.json").string());
}

}  // namespace crisp::apps
