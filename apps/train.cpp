#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/training_options.h"
#include "crisp/base/interrupt.h"
#include "crisp/flow/train_student.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

void bind_method(CLI::App& app, flow::StudentOptions& o) {
  const char* rows = "Method";
  app.add_option("--ablation", o.ablation, "row of the component table: A0 SegFormer head .. A6 all with relabelling")
      ->group(rows);
  app.add_option("--uncertainty", o.uncertainty, "row of the uncertainty table: U0 none .. U4 all")->group(rows);
  app.add_option("--width", o.width, "channels of the head; 0: 256 for B0 and B1, 384 above")->group(rows);
  app.add_option("--dropout", o.dropout, "of whole channels of the fused map")
      ->check(CLI::Range(0.0, 0.9))
      ->group(rows);
  app.add_option("--drop-path", o.drop_path, "stochastic depth of the last block")
      ->check(CLI::Range(0.0, 0.9))
      ->group(rows);
  app.add_option("--temperature", o.temperature, "of the softmax over scales")->check(CLI::PositiveNumber)->group(rows);
  app.add_option("--fusion", o.fusion, "dmf, concat or mean")->group(rows);
  app.add_option("--modulation", o.modulation, "U-DMF: per_scale, literal or off")->group(rows);
  app.add_flag("--boundary-on-e1", o.boundary_on_e1, "boundary head on the finest map instead of the fused one")
      ->group(rows);
  const char* losses = "Losses";
  loss::Options& l = o.task.loss;
  app.add_option("--cross-entropy", l.cross_entropy, "weight")->group(losses);
  app.add_option("--dice", l.dice, "weight")->group(losses);
  app.add_option("--heteroscedastic", l.heteroscedastic, "weight")->group(losses);
  app.add_option("--boundary", l.boundary, "weight")->group(losses);
  app.add_option("--surface", l.surface, "weight of the signed-distance term; the paper's is 0.1")->group(losses);
  app.add_flag("--balanced", l.balanced, "cross-entropy as the mean of background and foreground")->group(losses);
  app.add_flag("--weight-by-class", l.weight.by_class, "uncertainty discounts pixels within a class, not whole classes")
      ->group(losses);
  app.add_flag("--label-variance", l.label_variance, "heteroscedastic: the labelled class's variance")->group(losses);
  app.add_flag("--discount-boundary", l.discount_boundary, "uncertain pixels count less in the boundary loss too")
      ->group(losses);
  app.add_option("--band", o.task.band_width, "width of the boundary band: 2 or 3")
      ->check(CLI::Range(2, 3))
      ->group(losses);
  const char* phases = "Phases (fractions of training)";
  train::Phases& p = o.task.phases;
  app.add_option("--refiner-attached", p.refiner_attached, "from here gradients pass the refiner's inputs")
      ->group(phases);
  app.add_option("--weighting-from", p.weighting, "from here uncertain pixels count less")->group(phases);
  app.add_option("--modulation-from", p.modulation, "from here uncertainty modulates the fusion")->group(phases);
  app.add_option("--drop-first", p.drop_first, "share of uncertain seed pixels left out, at the start")->group(phases);
  app.add_option("--drop-last", p.drop_last, "the same from --drop-until on")->group(phases);
  app.add_option("--drop-until", p.drop_until, "fraction of training")->group(phases);
  const char* stage_c = "Relabelling";
  train::RelabelOptions& r = o.task.relabel;
  app.add_flag("--no-relabel", o.no_relabel, "keep the first seeds to the end")->group(stage_c);
  app.add_option("--relabel-from", r.from, "fraction of training")->group(stage_c);
  app.add_option("--relabel-every", r.every, "fraction of training")->group(stage_c);
  app.add_option("--passes", r.passes, "predictions with dropout that are averaged")->group(stage_c);
  app.add_option("--keep-first", r.keep_first, "share of the teacher's labels kept, at first")->group(stage_c);
  app.add_option("--keep-last", r.keep_last, "the same at the end")->group(stage_c);
  app.add_option("--keep-pixels", r.keep_at_least, "of each class, at least")->group(stage_c);
  app.add_option("--found", r.found_at_least, "tags the teacher must find, else relabelling waits")->group(stage_c);
  app.add_option("--relabel-refine", o.relabel_refine,
                 "none as in the paper, crf or par: edges of the teacher's labels")
      ->group(stage_c);
  app.add_option("--trust", r.trust, "in the labels so far, against the teacher: 0 as in the paper, 1 as much as in it")
      ->check(CLI::Range(0.0, 10.0))
      ->group(stage_c);
  app.add_flag("--relabel-all", r.all, "relabel photos too in which the teacher misses a tag")->group(stage_c);
  app.add_flag("--image-wide", r.image_wide, "shares over the image, not of each class")->group(stage_c);
  app.add_option("--tau", r.threshold, "above 0: a fixed threshold of uncertainty instead of shares")->group(stage_c);
}

// The preset decides what no other option says, on the command line or in a configuration file.
void take_preset(CLI::App& app, const std::string& preset, flow::StudentOptions& o) {
  flow::StudentOptions wanted;
  flow::apply_preset(preset, wanted);
  const auto take = [&](const char* option, auto& value, const auto& from) {
    if (app.get_option(option)->count() > 0) return;
    value = from;
    app.get_option(option)->capture_default_str();
  };
  take("--rate", o.task.encoder_rate, wanted.task.encoder_rate);
  take("--head-rate", o.task.head_rate, wanted.task.head_rate);
  take("--weight-decay", o.task.weight_decay, wanted.task.weight_decay);
  take("--decay", o.trainer.schedule.decay, wanted.trainer.schedule.decay);
}

}  // namespace

int run_train(const Arguments& arguments) {
  CommandLine line(
      "train",
      "Learns a CrispFormer from seeds: uncertainty-weighted, heteroscedastic and boundary losses, an EMA teacher that "
      "relabels. Writes a run folder; its model.safetensors is the teacher at the end. Ctrl-C saves and ends; --resume "
      "goes on.",
      "  crispformer train --data photos/ --seeds seeds/ --out runs/student\n"
      "  crispformer train --data VOC2012 --split train_aug --seeds seeds/ --arch mit_b1 --init mit_b1.safetensors \\\n"
      "      --epochs 40 --batch 16 --amp bf16 --out runs/a6\n"
      "  crispformer train --data VOC2012 --seeds seeds/ --ablation A0 --out runs/a0\n"
      "  crispformer train --data VOC2012 --labels masks --out runs/supervised\n"
      "  crispformer train --resume runs/student\n");
  flow::StudentOptions o;
  o.task.augment.crop = -1;
  o.trainer.epochs = 40;
  const Resumed resumed = with_resumed_options(arguments);
  std::string resume, preset = "segformer";
  flow::apply_preset(preset, o);
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos to learn from");
  line.app.add_option("--val", o.val, "photos to look at: a split, auto or none");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app.add_option("--seeds", o.seeds, "the seed folder");
  line.app.add_option("--labels", o.labels, "seeds; or masks: the fully supervised upper bound");
  line.app.add_option("--select", o.select, "the model kept: last; or masks: the best mIoU on --val's masks");
  line.app.add_option("--out", o.out, "the run folder")->required();
  line.app.add_option("--resume", resume, "go on with this run; its options are read from there")->configurable(false);
  line.app.add_option("--arch", o.arch, "mit_b0 .. mit_b5");
  line.app.add_option("--init", o.init, "encoder weights to start from; none; by default those shipped");
  line.app.add_option("--preset", preset, "rates and decay: segformer or paper");
  line.app.add_option("--batch", o.task.batch, "crops a batch")->check(CLI::Range(1, 4096));
  line.app.add_option("--rate", o.task.encoder_rate, "learning rate of the encoder");
  line.app.add_option("--head-rate", o.task.head_rate, "learning rate of the head");
  line.app.add_option("--weight-decay", o.task.weight_decay, "of weights, not of norms and biases");
  line.app.add_option("--ema-decay", o.trainer.ema_decay, "of the teacher");
  line.app.add_option("--infer-batch", o.task.infer_batch, "photos of one size at once in validation and relabelling");
  bind_method(line.app, o);
  bind_trainer(line.app, o.trainer);
  bind_augment(line.app, o.task.augment);
  if (!line.parse(resumed.arguments)) return 0;
  take_preset(line.app, preset, o);

  o.task.workers = line.threads;
  o.task.seed = o.trainer.seed = line.seed;
  o.task.amp = tensor::parse_dtype(o.trainer.amp);
  o.resume = !resumed.run.empty();
  o.command = as_typed("train", arguments);
  o.config = line.effective_config();
  const InterruptGuard interrupt;
  const flow::StudentReport report =
      flow::train_student(o, tensor::parse_device(line.device), [&] { return interrupt.requested(); });
  if (!report.complete) {
    fmt::print("stopped and saved; `crispformer train --resume {}` goes on\n", o.out.string());
    return 130;
  }
  fmt::print("{}\n", (o.out / "model.safetensors").string());
  return 0;
}

}  // namespace crisp::apps
