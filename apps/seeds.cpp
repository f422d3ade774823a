#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/seed_options.h"
#include "apps/training_options.h"
#include "crisp/base/error.h"
#include "crisp/base/interrupt.h"
#include "crisp/base/log.h"
#include "crisp/flow/training_setup.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

void print_sweep(const flow::Sweep& sweep) {
  log_warning(
      "--sweep LOOKED AT THE MASKS of {} photos. A background chosen from this curve is chosen with pixel labels: say "
      "so beside every number that follows. Nothing was written.",
      sweep.images);
  const auto best = std::max_element(sweep.points.begin(), sweep.points.end(),
                                     [](const auto& a, const auto& b) { return a.miou < b.miou; });
  fmt::print("{:<12} {:>7} {:>11}\n", "background", "mIoU", "foreground");
  for (const flow::SweepPoint& point : sweep.points) {
    fmt::print("{:<12} {:>7.2f} {:>10.1f}% {}{}\n", seed::to_string(point.background), point.miou,
               point.foreground_share, std::string(static_cast<size_t>(std::max(0.0, point.miou) / 2), '#'),
               &point == &*best ? " <" : "");
  }
}

// Backgrounds under which objects and background are sure, of plain maps (as AffinityNet has them) and of spread ones.
constexpr std::array<std::array<const char*, 2>, 2> kSure{{{"power:4", "power:24"}, {"0.55", "0.35"}}};

std::string sure_default(size_t which) {
  return fmt::format("by default {}, with --similarity 0 {}", kSure[1][which], kSure[0][which]);
}

}  // namespace

int run_seeds(const Arguments& arguments) {
  CommandLine line(
      "seeds",
      "Finds where in each photo its tags are: class activation maps of a tag classifier, refined, as one label and "
      "one "
      "uncertainty a pixel. Writes a seed folder: seeds.json, labels/, uncertainty/. Stopped half way, the same "
      "command "
      "goes on.",
      "  crispformer seeds --data photos/ --classifier runs/tags --out seeds\n"
      "  crispformer seeds --data VOC2012 --split train_aug --classifier runs/tags --refine affinity,crf --out seeds\n"
      "  crispformer seeds --data VOC2012 --classifier runs/tags,runs/tags-frozen --scales 1.5 --out seeds\n"
      "  crispformer seeds --data VOC2012 --classifier runs/tags --refine none --sweep\n");
  flow::SeedsOptions o;
  RefineWords words;
  std::string dtype = "f32", pairs = "head", sure_object, sure_background;
  bool sweep = false, no_flip = false;
  int64_t sweep_images = 100;
  o.affinity_trainer.epochs = 3;
  o.affinity_task.augment = flow::light_augmentation();
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos that get seeds");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app
      .add_option("--classifier", o.classifiers,
                  "run folder of `classify`, or its model file; several: the mean of their maps")
      ->delimiter(',')
      ->required();
  line.app.add_option("--out", o.out, "the seed folder");
  line.app.add_option("--scales", o.cam.scales, "image scales; by default 1,0.5,1.5, or 1,1.5,2 under 400 pixels")
      ->delimiter(',');
  line.app.add_option("--multiple", o.cam.multiple, "scaled sides are rounded to a multiple of this; 1: exact");
  line.app.add_flag("--no-flip", no_flip, "leave out the mirrored photos");
  line.app.add_option(
      "--similarity", o.cam.similarity,
      "spread maps over what looks alike to the encoder: power of the similarity; 0: plain maps; by default 4, "
      "on a ViT 8");
  line.app.add_option("--similarity-rounds", o.cam.similarity_rounds, "how often; by default 2, on a ViT 5");
  line.app
      .add_option("--crossfit", o.crossfit,
                  "on a ViT: rounds in which the labels of all other photos judge each photo; by default 1")
      ->check(CLI::Range(0, 8));
  line.app.add_option("--max-side", o.seed.max_side, "larger photos are worked on at this size");
  line.app.add_flag("--keep-cams", o.seed.keep_cams, "also write cams/ID.safetensors (large)");
  line.app.add_option("--batch", o.seed.batch, "photos of one size at once")->check(CLI::Range(1, 1024));
  line.app.add_option("--dtype", dtype, "f32, bf16 or fp16");
  bind_refinement(line.app, words, o.seed);
  const char* affinity = "Affinity";
  line.app.add_option("--affinity", o.affinity, "a trained affinity network; else one is learned in OUT/affinity")
      ->group(affinity);
  line.app.add_option("--affinity-epochs", o.affinity_trainer.epochs, "passes over the photos")->group(affinity);
  line.app.add_option("--affinity-rate", o.affinity_task.head_rate, "learning rate of its head")->group(affinity);
  line.app.add_option("--affinity-train", pairs, "head, or all: the encoder too")
      ->check(CLI::IsMember({"head", "all"}))
      ->group(affinity);
  line.app.add_option("--affinity-batch", o.affinity_task.batch, "photos a batch")->group(affinity);
  line.app.add_option("--affinity-amp", o.affinity_trainer.amp, "precision: f32, bf16 or fp16")->group(affinity);
  line.app.add_option("--sure-object", sure_object, "background under which objects are sure; " + sure_default(0))
      ->group(affinity);
  line.app.add_option("--sure-background", sure_background, "the same for background; " + sure_default(1))
      ->group(affinity);
  const char* looking = "Looking at masks";
  line.app.add_flag("--sweep", sweep, "print mIoU by background score, where masks exist; writes nothing")
      ->group(looking);
  line.app.add_option("--sweep-images", sweep_images, "at most so many photos, chosen at random")->group(looking);
  bind_features(line.app, o.features);
  if (!line.parse(arguments)) return 0;

  o.background = apply(words, o.seed);
  o.crf = words.crf;
  o.cam.flip = !no_flip;
  const auto sure = [&](const std::string& text, size_t which) {
    return seed::parse_background(text.empty() ? kSure[o.cam.similarity.value_or(1) > 0][which] : text);
  };
  o.seed.sure_object = sure(sure_object, 0);
  o.seed.sure_background = sure(sure_background, 1);
  seed::check(o.cam);
  seed::check(o.seed);
  o.dtype = tensor::parse_dtype(dtype);
  o.seed.workers = o.affinity_task.workers = line.threads;
  o.random_seed = o.crossfit_training.seed = o.affinity_task.seed = o.affinity_trainer.seed = line.seed;
  o.affinity_task.train_encoder = pairs == "all";
  o.command = as_typed("seeds", arguments);
  const torch::Device device = tensor::parse_device(line.device);
  if (sweep) {
    print_sweep(flow::sweep_background(o, sweep_images, device));
    return 0;
  }
  if (o.out.empty()) throw UsageError("--out is needed: the seed folder to write");
  const InterruptGuard interrupt;
  const auto facts = flow::make_seed_folder(o, device, [&] { return interrupt.requested(); });
  if (!facts) {
    fmt::print("stopped and saved; the same command goes on\n");
    return 130;
  }
  print_seed_counts(*facts, o.out);
  return 0;
}

}  // namespace crisp::apps
