#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/training_options.h"
#include "crisp/base/interrupt.h"
#include "crisp/flow/train_classifier.h"
#include "crisp/flow/training_setup.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_classify(const Arguments& arguments) {
  CommandLine line(
      "classify",
      "Learns which tags a photo has, so that `seeds` can ask where in the photo they are. Writes a run folder: "
      "model.safetensors, log.jsonl, checkpoints, TensorBoard events. Ctrl-C saves and ends; --resume goes on.",
      "  crispformer classify --data photos/ --out runs/tags\n"
      "  crispformer classify --data VOC2012 --split train_aug --arch mit_b1 --init mit_b1.safetensors \\\n"
      "      --epochs 10 --batch 16 --out runs/tags\n"
      "  crispformer classify --resume runs/tags\n");
  flow::ClassifierOptions o;
  o.task.augment = flow::light_augmentation();
  const Resumed resumed = with_resumed_options(arguments);
  std::string resume;  // for --help alone: it was taken out above
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos to learn from");
  line.app.add_option("--val", o.val, "photos to look at after each epoch: a split, auto or none");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app.add_option("--out", o.out, "the run folder")->required();
  line.app.add_option("--resume", resume, "go on with this run; its options are read from there")->configurable(false);
  line.app.add_option("--arch", o.arch, "mit_b0 .. mit_b5");
  line.app.add_option("--init", o.init, "encoder weights to start from; none; by default those shipped");
  line.app.add_option("--pooling", o.pooling,
                      "average, max, top (mean of the best cells) or weighted (by each class's own mask)");
  line.app.add_option("--top-share", o.top_share, "of the cells, for --pooling top")->check(CLI::Range(0.0, 1.0));
  line.app.add_option("--stride", o.stride, "pixels a cell of the maps: 8 (finer, slower), 16 or 32");
  line.app.add_option("--drop-path", o.drop_path, "stochastic depth of the last block")->check(CLI::Range(0.0, 0.9));
  line.app.add_option("--batch", o.task.batch, "photos a batch")->check(CLI::Range(1, 4096));
  line.app.add_option("--rate", o.task.encoder_rate, "learning rate of the encoder (6e-5 for long runs)");
  line.app.add_option("--head-rate", o.task.head_rate, "learning rate of the classifier (6e-4 for long runs)");
  line.app.add_option("--weight-decay", o.task.weight_decay, "of weights, not of norms and biases");
  line.app.add_option("--mosaic", o.task.mosaic, "share of the steps that show four photos as one, each with its tags")
      ->check(CLI::Range(0.0, 1.0));
  line.app.add_flag("--freeze-norms", o.task.freeze_norms, "layer norms keep their weights");
  bind_trainer(line.app, o.trainer);
  bind_augment(line.app, o.task.augment);
  if (!line.parse(resumed.arguments)) return 0;

  o.task.workers = line.threads;
  o.task.seed = o.trainer.seed = line.seed;
  o.resume = !resumed.run.empty();
  o.command = as_typed("classify", arguments);
  o.config = line.effective_config();
  const InterruptGuard interrupt;
  if (!flow::train_classifier(o, tensor::parse_device(line.device), [&] { return interrupt.requested(); })) {
    fmt::print("stopped and saved; `crispformer classify --resume {}` goes on\n", o.out.string());
    return 130;
  }
  fmt::print("{}\n", (o.out / "model.safetensors").string());
  return 0;
}

}  // namespace crisp::apps
