#include <fmt/format.h>

#include "apps/classifier_options.h"
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
  bind_classifier(line.app, o);
  line.app.add_option("--resume", resume, "go on with this run; its options are read from there")->configurable(false);
  if (!line.parse(resumed.arguments)) return 0;
  take_arch(line.app, o);

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
