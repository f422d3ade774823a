#include "crisp/flow/seeds.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/base/text.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/run_folder.h"
#include "crisp/ops/device_par.h"
#include "crisp/tensor/device.h"

namespace crisp::flow {
namespace {

using Json = nlohmann::ordered_json;

// One name, or a list of them.
Json classifiers_json(const std::vector<Path>& classifiers) {
  if (classifiers.size() == 1) return classifiers[0].string();
  Json all = Json::array();
  for (const Path& classifier : classifiers) all.push_back(classifier.string());
  return all;
}

data::SeedFacts facts_of(const SeedsOptions& options, const ClassNames& classes) {
  return {.made_by = options.command,
          .data = options.data.string(),
          .split = options.split,
          .classes = classes,
          .options = options_json(options)};
}

// The labels it learns from are a seed folder of their own: what the CAMs are sure of.
bool learn_affinity(const SeedsOptions& options, const seed::SeedPhotos& photos, seed::CamMaker& cams,
                    torch::Device device, const std::function<bool()>& stop) {
  const Path folder = options.out / "affinity";
  if (is_run_folder(folder) && read_run(folder).complete) return true;
  SeedsOptions confident = options;
  confident.seed.stop = stop;
  confident.seed.confident = true;
  confident.seed.keep_cams = false;
  confident.seed.refine.chain = {seed::Refinement::kCrf};
  log_info("affinity: labels that the activation maps are sure of");
  if (!seed::make_seeds(cams, nullptr, photos, confident.seed, facts_of(confident, cams.classes()),
                        folder / "labels")) {
    return false;
  }

  data::SeedFolder labels(folder / "labels");
  std::vector<data::Sample> samples;
  for (const data::Sample& sample : photos.samples) {
    if (labels.has(sample.id) && !sample.tags.empty()) samples.push_back(sample);
  }
  if (samples.empty()) throw Error("{}: no photo with tags has confident labels", labels.path().string());
  train::AffinityOptions task_options = options.affinity_task;
  if (task_options.augment.crop < 0) task_options.augment.crop = default_crop(samples);
  RunFolder run(folder,
                {.task = "affinity",
                 .command = options.command,
                 .data = options.data.string(),
                 .split = options.split,
                 .classes = cams.classes()},
                "", is_run_folder(folder));
  torch::manual_seed(options.affinity_trainer.seed);
  const model::CamClassifier classifier = model::load_classifier(options.classifiers.at(0));
  train::AffinityTask task(model::make_affinity_net(classifier), std::move(samples), std::move(labels), task_options,
                           device);
  train::Trainer trainer(task, options.affinity_trainer, device, folder);
  trainer.resume();
  if (!trainer.run(stop)) return false;
  run.finish(trainer.seconds());
  return true;
}

// The labels of every photo on the grid of its tokens, by the maps as they are now.
std::vector<train::GridLabels> grid_labels(const seed::SeedPhotos& photos, seed::CamMaker& cams, double background,
                                           const std::function<bool()>& stop) {
  std::vector<train::GridLabels> all;
  Progress progress("crossfit: labels", static_cast<int64_t>(photos.samples.size()));
  for (const data::Sample& sample : photos.samples) {
    if (stop && stop()) break;
    try {
      all.push_back({&sample, cams.grid_labels(sample.image, sample.tags, background)});
    } catch (const Error&) {  // the seeds will name it
    }
    progress.advance();
  }
  progress.finish();
  return all;
}

// Heads that judge each photo by the labels of the others, learned in OUT/crossfit and kept there.
bool learn_crossfit(const SeedsOptions& options, const seed::SeedPhotos& photos, seed::CamMaker& cams,
                    torch::Device device, const std::function<bool()>& stop) {
  const ClassNames& classes = cams.classes();
  for (int round = 1; round <= *options.crossfit; ++round) {
    std::array<model::TokenHead, 2> heads{nullptr, nullptr};
    std::vector<train::GridLabels> labels;
    for (const size_t half : {0u, 1u}) {
      const Path file = options.out / "crossfit" / fmt::format("round{}_half{}.safetensors", round, half + 1);
      if (std::filesystem::exists(file)) {
        heads[half] = model::load_token_head(file, classes);
        heads[half]->to(device);
        continue;
      }
      if (labels.empty()) {
        const seed::Background by = seed::default_background(cams.encoder(), round > 1);
        labels = grid_labels(photos, cams, by.value, stop);
        if (labels.empty()) throw Error("not one of {} photos could be read", photos.samples.size());
      }
      const auto learned = train::learn_half(*cams.store(), labels, half, static_cast<int64_t>(classes.size()),
                                             options.crossfit_training, device, stop);
      if (!learned) return false;
      make_folder(file.parent_path());
      model::save_token_head(file, *learned, classes);
      heads[half] = *learned;
    }
    cams.judge_by(std::make_shared<seed::Crossfit>(std::move(heads)));
  }
  return true;
}

}  // namespace

nlohmann::ordered_json crf_json(const std::string& preset, const ops::CrfOptions& crf) {
  return {{"preset", preset},
          {"iterations", crf.iterations},
          {"spatial_sigma", crf.spatial_sigma},
          {"spatial_weight", crf.spatial_weight},
          {"bilateral_sigma_xy", crf.bilateral_sigma_xy},
          {"bilateral_sigma_rgb", crf.bilateral_sigma_rgb},
          {"bilateral_weight", crf.bilateral_weight},
          {"scale_factor", crf.scale_factor}};
}

std::vector<model::CamClassifier> load_classifiers(const std::vector<Path>& files) {
  std::vector<model::CamClassifier> all;
  for (const Path& file : files) all.push_back(model::load_classifier(file));
  return all;
}

seed::CamMaker open_cams(const SeedsOptions& options, const Path& out, torch::Device device) {
  std::vector<model::CamClassifier> all = load_classifiers(options.classifiers);
  const auto on_vit = std::ranges::find_if(all, [](const auto& one) { return one->config.encoder.vit.has_value(); });
  std::shared_ptr<feature::Store> store;
  if (on_vit != all.end()) store = open_features(*(*on_vit)->encoder, options.features, out, device);
  return {std::move(all), device, options.dtype, options.cam, std::move(store)};
}

SeedsOptions settled(const SeedsOptions& options, const model::EncoderConfig& encoder) {
  SeedsOptions all = options;
  all.crossfit = options.crossfit.value_or(encoder.vit ? 1 : 0);
  const bool crossfit = *all.crossfit > 0;
  if (crossfit && !encoder.vit) throw UsageError("--crossfit: classifiers on a frozen ViT alone have it");
  const seed::SimilarityOptions similarity = seed::similarity_of(options.cam, encoder, crossfit);
  all.cam.similarity = similarity.power;
  all.cam.similarity_rounds = similarity.rounds;
  all.background = all.seed.background =
      options.background.value_or(seed::default_background(encoder, crossfit, similarity.on()));
  return all;
}

std::string options_json(const SeedsOptions& o) {
  Json json = {{"classifier", classifiers_json(o.classifiers)},
               {"tags_from", o.tags_from},
               {"tags", o.tags},
               {"dtype", tensor::dtype_name(o.dtype)},
               {"scales", o.cam.scales.empty() ? Json("by size") : Json(o.cam.scales)},
               {"flip", o.cam.flip},
               {"multiple", o.cam.multiple},
               {"similarity", o.cam.similarity ? Json(*o.cam.similarity) : Json("by encoder")},
               {"similarity_rounds", o.cam.similarity_rounds ? Json(*o.cam.similarity_rounds) : Json("by encoder")},
               {"crossfit", o.crossfit ? Json(*o.crossfit) : Json("by encoder")},
               {"refine", seed::to_string(o.seed.refine.chain)},
               {"max_side", o.seed.max_side},
               {"untagged", o.seed.untagged == seed::Untagged::kSkip ? "skip" : "background"}};
  if (o.seed.confident) {
    json["sure_object"] = seed::to_string(o.seed.sure_object);
    json["sure_background"] = seed::to_string(o.seed.sure_background);
  } else {
    json["background"] = o.background ? seed::to_string(*o.background) : "by encoder";
  }
  if (o.seed.refine.has(seed::Refinement::kCrf)) json["crf"] = crf_json(o.crf, o.seed.refine.crf);
  if (o.seed.refine.has(seed::Refinement::kPar)) {
    const ops::ParOptions& par = o.seed.refine.par;
    json["par"] = {{"dilations", par.dilations}, {"iterations", par.iterations}, {"w1", par.w1}, {"w2", par.w2}};
  }
  if (o.seed.refine.has(seed::Refinement::kAffinity)) {
    json["affinity"] = {{"network", o.affinity.string()},
                        {"steps", o.seed.refine.walk_steps},
                        {"beta", o.seed.refine.walk_beta},
                        {"epochs", o.affinity_trainer.epochs},
                        {"rate", o.affinity_task.head_rate},
                        {"batch", o.affinity_task.batch},
                        {"train_encoder", o.affinity_task.train_encoder},
                        {"amp", o.affinity_trainer.amp},
                        {"walk", o.seed.refine.walk_maps ? "maps" : "posterior"},
                        {"sure_object", seed::to_string(o.seed.sure_object)},
                        {"sure_background", seed::to_string(o.seed.sure_background)},
                        {"seed", o.affinity_trainer.seed}};
  }
  return json.dump();
}

std::optional<data::SeedFacts> make_seed_folder(const SeedsOptions& given, torch::Device device,
                                                const std::function<bool()>& stop) {
  const data::Dataset dataset =
      open_tagged(given.data, given.split, given.tags_from, given.tags, given.random_seed, given.seed.workers);
  seed::CamMaker cams = open_cams(given, given.out, device);
  const SeedsOptions options = settled(given, cams.encoder());
  check_classes(cams.classes(), dataset.classes);
  const bool background = has_background(dataset.classes);
  const seed::SeedPhotos photos =
      seed::photos_for_seeds(dataset.samples(options.split), options.seed.untagged, background);
  if (photos.untagged > 0) {
    log_warning("{} photo(s) have no tags and get no seed{}", photos.untagged,
                background ? "; `--untagged background` takes them for background" : "");
  }
  if (cams.store() && !make_features(*cams.store(), {photos.samples}, options.seed.workers, stop)) return std::nullopt;
  if (*options.crossfit > 0 && !learn_crossfit(options, photos, cams, device, stop)) return std::nullopt;
  std::optional<seed::AffinityMaker> affinity;
  if (options.seed.refine.has(seed::Refinement::kAffinity)) {
    if (options.affinity.empty() && !learn_affinity(options, photos, cams, device, stop)) return std::nullopt;
    const Path network = options.affinity.empty() ? options.out / "affinity" : options.affinity;
    affinity.emplace(model::load_affinity_net(network), device, options.dtype);
  }
  seed::SeedOptions how = options.seed;
  how.stop = stop;
  how.refine.par_by = ops::par_on(device);
  return seed::make_seeds(cams, affinity ? &*affinity : nullptr, photos, how, facts_of(options, dataset.classes),
                          options.out);
}

}  // namespace crisp::flow
